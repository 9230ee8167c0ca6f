import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";
import { refused } from "../refused.js";

/** HW-1024: a context has the fields that it was made with. */

interface Loose {
  [field: string]: unknown;
}

class Box extends Context<number> {
  n = 0;
  /** As a field that is declared without a value looks where the compiler leaves it out. */
  declare owner?: string;

  claim(who: string) {
    this.n += 1;
    this.owner = who;
  }
  async claimLater(who: string) {
    await null;
    this.#take(who);
  }
  #take(who: string) {
    this.owner = who;
  }
  remove() {
    delete (this as { n?: number }).n;
  }
  changeWhatIsFrozen() {
    const frozen: Loose = Object.freeze({});
    frozen.colour = "red";
  }
  deleteFromWhatIsFrozen() {
    const frozen: Loose = Object.freeze({ n: 1 });
    delete frozen.n;
  }
  @readonly look() {
    return this.n;
  }
}
class Shelf extends Context {
  boxes = this.children(Box);
  async claim(box: number) {
    return this.boxes(box)
      .claim("ada")
      .catch((error: Error) => error.message);
  }
}

test("HW-1024: a field that has no initial value cannot be assigned to; the error names it and says what to do", async () => {
  await using service = await run(Shelf);
  const box = service.root.boxes(1);
  const remedy = "`owner: string | undefined = undefined`";
  await refused(box.claim("ada"), "HW-1024", "Shelf.boxes(1).claim", "this.owner", remedy);
  await refused(box.claimLater("ada"), "HW-1024", "Shelf.boxes(1).claimLater", "this.owner");
  assert.match(String(await service.root.claim(1)), /HW-1024.*this\.owner/);
  assert.equal(await box.look(), 0);
});

test("HW-1024: nor can a field be deleted", async () => {
  await using service = await run(Shelf);
  await refused(service.root.boxes(1).remove(), "HW-1024", "Shelf.boxes(1).remove", "this.n");
});

test("what a method does to other objects that cannot change fails in JavaScript's own words", async () => {
  await using service = await run(Shelf);
  const box = service.root.boxes(1);
  await assert.rejects(box.changeWhatIsFrozen(), {
    name: "TypeError",
    message: /Cannot add property colour/,
  });
  await assert.rejects(box.deleteFromWhatIsFrozen(), {
    name: "TypeError",
    message: /Cannot delete property 'n'/,
  });
});
