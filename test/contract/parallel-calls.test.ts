import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates } from "../gates.js";

let gates = new Gates();

class Shelf extends Context<number> {
  books = 0;

  async add(gate: string) {
    await gates.pass(gate);
    this.books += 1;
    return this.books;
  }

  refuse() {
    throw new Error("full");
  }

  @readonly count() {
    return this.books;
  }
}

class Library extends Context {
  shelves = this.children(Shelf);
  log: string[] = [];

  async fill(careful: boolean) {
    const both = Promise.all([this.shelves(1).refuse(), this.shelves(2).add("slow shelf")]);
    if (careful) await both.catch((error: Error) => this.log.push(error.message));
    else await both;
    return this.log;
  }
}

test("an event does not end before the calls that it awaits, also if Promise.all gave up at the first failure", async () => {
  gates = new Gates();
  await using service = await run(Library);
  const filled = service.root.fill(true);
  await gates.reached("slow shelf");
  let hasEnded = false;
  void filled.then(() => {
    hasEnded = true;
  });
  await new Promise(setImmediate);
  assert.equal(hasEnded, false);
  gates.open("slow shelf");
  assert.deepEqual(await filled, ["full"]);
  assert.equal(await service.root.shelves(2).count(), 1, "the other call counts: its error was caught");
});

test("if the failure is not caught, what the other call did is undone", async () => {
  gates = new Gates();
  await using service = await run(Library);
  const filled = service.root.fill(false);
  await gates.reached("slow shelf");
  gates.open("slow shelf");
  await assert.rejects(filled, /full/);
  assert.equal(await service.root.shelves(2).count(), 0);
});
