import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";
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
  async forgetTheChange() {
    void this.leaves(1)
      .addAt("slow")
      .then(() => {
        this.n = 55;
      });
  }
  async forgetAnotherCall() {
    void this.leaves(1)
      .addAt("slow")
      .then(() => this.leaves(2).add(1));
  }
  async forgetTheError() {
    this.leaves(1)
      .addAndFail("quick")
      .catch(() => {});
  }
  async forgetToThrow() {
    void this.leaves(1)
      .add(1)
      .then(() => {
        throw new Error("nobody hears this");
      });
    await this.leaves(2).add(1);
    await turns(2);
  }
  async forgetTheEnd() {
    void this.leaves(1)
      .add(1)
      .finally(() => {
        this.n = 55;
      });
    await this.leaves(2).add(1);
  }
  async forgetTheRest() {
    const call = this.leaves(1).add(1);
    void call.then(() => 1).then(() => 2);
    await call;
  }
  async forgetABoundMethod() {
    const call = this.leaves(1).add(1);
    void call.then(this.note.bind(this));
    await call;
  }
  note(n: number) {
    this.n = n;
  }
  async followUp() {
    const first = await this.leaves(1)
      .add(1)
      .then((n) => this.leaves(2).add(n + 1))
      .finally(() => {
        this.n += 1;
      });
    const all = await Promise.all(
      [1, 2].map((leaf) =>
        this.leaves(leaf)
          .add(0)
          .then((n) => n * 10),
      ),
    );
    return [first, ...all];
  }
  followUpAtOnce() {
    return this.leaves(1)
      .add(1)
      .then((n) => this.leaves(2).add(n));
  }
  async keepAndWaitLater() {
    const later = this.leaves(1)
      .addAndFail("quick")
      .catch((error: Error) => error.message);
    await turns(2);
    return later;
  }
  async promiseByHand() {
    return new Promise<number>((resolve, reject) => {
      void this.leaves(1).add(1).then(resolve, reject);
    });
  }
  async resolveWithIt() {
    return new Promise<number>((resolve) => resolve(this.leaves(1).add(1)));
  }
  async firstOfChains() {
    const slow = this.leaves(1)
      .addAt("slow")
      .then(() => this.leaves(2).add(1))
      .then((n) => n + 1);
    await Promise.race([slow, this.leaves(3).add(1)]);
    return "raced";
  }
  async anyOfThem() {
    return Promise.any([this.leaves(1).addAndFail("quick"), this.leaves(2).add(1)]);
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

test("HW-1005: nor may what the program makes of a call be forgotten, with then, catch or finally", async () => {
  const { root, stop } = await run(Tree);
  gates.open("slow", "quick");
  const branch = root.branches(1);
  const names = ["HW-1005", "Tree.branches(1).leaves(1).add"] as const;
  await refused(branch.forgetTheChange(), ...names);
  await refused(branch.forgetAnotherCall(), ...names);
  await refused(branch.forgetTheError(), ...names);
  await refused(branch.forgetToThrow(), ...names);
  await refused(branch.forgetTheEnd(), ...names);
  await refused(branch.forgetTheRest(), ...names);
  await refused(branch.forgetABoundMethod(), ...names);
  await turns();
  assert.equal(await branch.look(), 0);
  for (const leaf of [1, 2]) assert.equal(await branch.leaves(leaf).look(), 0);
  await stop();
});

test("what the program makes of a call is part of the event", async () => {
  const { root, stop } = await run(Tree);
  gates.open("slow", "quick");
  const branch = root.branches(1);
  assert.deepEqual(await branch.followUp(), [2, 10, 20]);
  assert.equal(await branch.followUpAtOnce(), 4);
  assert.equal(await branch.keepAndWaitLater(), "failed at quick");
  assert.equal(await branch.promiseByHand(), 3);
  assert.equal(await branch.resolveWithIt(), 4);
  assert.equal(await branch.anyOfThem(), 5);
  assert.equal(await branch.look(), 1);
  await stop();
});

test("a method ends only after what it makes of the calls it waits for, also if Promise.race went on without them", async () => {
  const { root, stop } = await run(Tree);
  const branch = root.branches(1);
  const raced = branch.firstOfChains();
  const watched = watch(raced);
  await gates.reached("slow");
  await turns();
  assert.equal(watched.settled, false);
  gates.open("slow");
  assert.equal(await raced, "raced");
  for (const leaf of [1, 2, 3]) assert.equal(await branch.leaves(leaf).look(), 1);
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
