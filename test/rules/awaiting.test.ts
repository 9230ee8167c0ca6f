import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns } from "../gates.js";
import { refused } from "../refused.js";

/** HW-1005: the calls that a method makes are part of its event, and end before it. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Leaf extends Context<number> {
  n = 0;
  add(by: number) {
    this.n += by;
    return this.n;
  }
  async addAt(gate: string) {
    await gates.pass(gate);
    this.n += 1;
    return this.n;
  }
  async addAndFail(gate: string) {
    this.n += 1;
    await gates.pass(gate);
    throw new Error(`failed at ${gate}`);
  }
  @readonly look() {
    return this.n;
  }
}
class Branch extends Context<number> {
  n = 0;
  leaves = this.children(Leaf);

  forget() {
    this.n += 1;
    void this.leaves(1).add(1);
  }
  async forgetButWaitElsewhere() {
    void this.leaves(1).add(1);
    await this.leaves(2).add(1);
    await turns();
  }
  forgetAndReturn() {
    return [1, this.leaves(1).add(1)].length;
  }
  returnTheCall() {
    return this.leaves(1).add(1);
  }
  async waitForAll() {
    const results = await Promise.allSettled([
      this.leaves(1).addAt("slow"),
      this.leaves(2).addAndFail("quick"),
    ]);
    return results.map(({ status }) => status);
  }
  async firstOf() {
    const calls = [this.leaves(1).addAt("slow"), this.leaves(2).addAt("quick")];
    const first = await Promise.race(calls);
    return first + (await Promise.all(calls)).length;
  }
  async catchLater() {
    const call = this.leaves(1).addAndFail("quick");
    await turns(2);
    return call.catch((error: Error) => error.message);
  }
  @readonly look() {
    return this.n;
  }
}
class Tree extends Context {
  branches = this.children(Branch);
  async tryForgetful() {
    return this.branches(1)
      .forget()
      .catch(() => "caught");
  }
}

test("HW-1005: a call that nobody waits for fails the event; the error names both methods", async () => {
  const { root, stop } = await run(Tree);
  const branch = root.branches(1);
  await refused(branch.forget(), "HW-1005", "Tree.branches(1).forget", "Tree.branches(1).leaves(1).add");
  await refused(branch.forgetButWaitElsewhere(), "HW-1005", "leaves(1).add");
  await refused(branch.forgetAndReturn(), "HW-1005", "leaves(1).add");
  assert.equal(await branch.look(), 0);
  assert.equal(await branch.leaves(1).look(), 0);
  assert.equal(await branch.leaves(2).look(), 0);
  await stop();
});

test("HW-1005: it cannot be caught inside the event, because the forgotten call may be at work anywhere below", async () => {
  const { root, stop } = await run(Tree);
  await refused(root.tryForgetful(), "HW-1005", "Tree.branches(1).forget");
  await stop();
});

test("calls may be awaited in any of JavaScript's ways", async () => {
  const { root, stop } = await run(Tree);
  gates.open("slow", "quick");
  const branch = root.branches(1);
  assert.equal(await branch.returnTheCall(), 1);
  assert.deepEqual(await branch.waitForAll(), ["fulfilled", "rejected"]);
  assert.equal(await branch.catchLater(), "failed at quick");
  assert.equal(await branch.leaves(1).look(), 2);
  assert.equal(await branch.leaves(2).look(), 0);
  assert.equal(await branch.firstOf(), 5);
  await stop();
});
