import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates } from "../gates.js";

const gates = new Gates();

class Leaf extends Context {
  notes: string[] = [];

  async look() {
    this.downgrade(); // unchanged
    await gates.pass("looked");
    throw new Error("nothing to see");
  }

  note(text: string) {
    this.notes.push(text);
  }

  @readonly all() {
    return this.notes;
  }
}

class Tree extends Context {
  leaf = this.child(Leaf);

  async visit() {
    this.downgrade();
    await this.leaf.look();
  }
}

test("line 3: undoing a call that had given up a context unchanged leaves what later events did there", async () => {
  await using service = await run(Tree);
  const visit = service.root.visit();
  await gates.reached("looked");
  const noted = service.root.leaf.note("later"); // enters while the visit is still under way
  await new Promise(setImmediate);
  gates.open("looked");
  await assert.rejects(visit, /nothing to see/);
  await noted;
  assert.deepEqual(await service.root.leaf.all(), ["later"]);
});
