import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, type Ref, readonly, reads, run } from "headwater";
import { Gates, turns } from "../gates.js";

/**
 * The contract, lines 1 and 3 together: when an event fails that had given up a context, those who had seen what
 * it did there are run again, and nobody can tell.
 */

let gates = new Gates();
let tries: unknown[] = [];
beforeEach(() => {
  gates = new Gates();
  tries = [];
});

class Tree extends Context {
  n = 0;
  list: number[] = [];
  leaves = this.children(Leaf);

  /** Changes the tree, gives it up, and then fails (or not) when the test says so. */
  async addAndFail(gate: string, fails = true) {
    this.n += 100;
    this.list.push(100);
    this.downgrade();
    await this.leaves(0).hold(gate);
    if (fails) throw new Error("failed in the end");
  }
  take(list: number[]) {
    list.push(this.n);
    tries.push(list.length);
    this.list.push(...list);
    return list;
  }
  async addEverywhere(by: number) {
    tries.push(this.n);
    this.n += by;
    this.event.send("ada", `tree: ${this.n}`);
    this.event.start(this.leaves(2)).add(by);
    return (await this.leaves(1).add(this.n)) + this.event.time * 0;
  }
  /** Where it goes depends on what it finds. */
  async goOn() {
    return (await this.leaves(0).look()) === 0 ? await this.leaves(1).look() : "elsewhere";
  }
  tellTime() {
    tries.push(this.event.time);
    this.n += 1;
    return this.event.time;
  }
  fail() {
    tries.push(this.n);
    if (this.n >= 100) throw new Error(`full at ${this.n}`);
    this.n += 1;
    return this.n;
  }
  @readonly look() {
    return { n: this.n, list: this.list };
  }
}
class Leaf extends Context<number> {
  n = 0;
  async hold(gate: string) {
    await gates.pass(gate);
  }
  async changeAndFail(gate: string) {
    this.n += 100;
    this.downgrade();
    await gates.pass(gate);
    throw new Error("failed in the end");
  }
  add(by: number) {
    this.n += by;
    this.event.send("ada", `leaf ${this.key}: ${this.n}`);
    return this.n;
  }
  @reads(Tree) async readAbove(gate: string) {
    this.n += this.event.read(Tree).n;
    await gates.pass(gate);
    return this.n;
  }
  @readonly look() {
    return this.n;
  }
}

/** Lets an event fail whose changes those of `others` have seen, and returns what they answered. */
async function afterFailure<T>(root: Ref<Tree>, others: () => Promise<T>[]): Promise<T[]> {
  const failing = root.addAndFail("inside");
  await gates.reached("inside");
  const replies = others();
  await turns();
  gates.open("inside");
  await assert.rejects(failing, /failed in the end/);
  return Promise.all(replies);
}

test("an event that is run again begins with the arguments that it was given", async () => {
  const { root, stop } = await run(Tree);
  assert.deepEqual(await afterFailure(root, () => [root.take([7])]), [[7, 0]]);
  assert.deepEqual(tries, [2, 2]);
  assert.deepEqual(await root.look(), { n: 0, list: [7, 0] });
  await stop();
});

test("an event that is run again has its effects once, those of the try that counts", async () => {
  const service = await run(Tree);
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  const { root } = service;
  assert.deepEqual(await afterFailure(root, () => [root.addEverywhere(1), root.addEverywhere(2)]), [1, 4]);
  await service.idle();
  assert.deepEqual(
    tries,
    [100, 0, 1],
    "the second one had to wait for the first, and saw nothing of its first try",
  );
  assert.deepEqual(heard, ["tree: 1", "leaf 1: 1", "tree: 3", "leaf 1: 4", "leaf 2: 1", "leaf 2: 3"]);
  assert.equal(await root.leaves(1).look(), 4);
  assert.equal(await root.leaves(2).look(), 3);
  await service.stop();
});

test("an event's time is the same each time it is tried", async () => {
  const { root, stop } = await run(Tree);
  const [time] = await afterFailure(root, () => [root.tellTime()]);
  assert.deepEqual(tries, [time, time]);
  await stop();
});

test("an event that failed because of what it saw is run again when that is taken back", async () => {
  const { root, stop } = await run(Tree);
  assert.deepEqual(await afterFailure(root, () => [root.fail()]), [1]);
  assert.deepEqual(tries, [100, 0]);
  await stop();
});

test("a whole chain of events is run again in order", async () => {
  const { root, stop } = await run(Tree);
  const replies = await afterFailure(root, () => [1, 2, 3, 4].map(() => root.fail()));
  assert.deepEqual(replies, [1, 2, 3, 4]);
  assert.deepEqual((await root.look()).n, 4);
  await stop();
});

test("an event that only looked at a context above is run again too", async () => {
  const { root, stop } = await run(Tree);
  const first = root.addAndFail("first", false);
  await gates.reached("first");
  gates.open("first");
  await first;
  gates.open("read");
  assert.deepEqual(await afterFailure(root, () => [root.leaves(5).readAbove("read")]), [100]);
  assert.equal(await root.leaves(5).look(), 100);
  await stop();
});

test("an event that is run again may go where it has not been, and finds no later event's changes there", async () => {
  const { root, stop } = await run(Tree);
  const failing = root.leaves(0).changeAndFail("inside");
  await gates.reached("inside");
  const replies = [root.goOn(), root.leaves(1).add(5), root.leaves(1).look()];
  await turns();
  gates.open("inside");
  await assert.rejects(failing, /failed in the end/);
  assert.deepEqual(await Promise.all(replies), [0, 5, 5]);
  await stop();
});

test("when nothing fails, nothing is run twice", async () => {
  const { root, stop } = await run(Tree);
  const first = root.addAndFail("inside", false);
  await gates.reached("inside");
  const reply = root.fail();
  const time = root.tellTime();
  await turns();
  gates.open("inside");
  await first;
  await assert.rejects(reply, /full at 100/);
  await time;
  assert.equal(tries.length, 2);
  await stop();
});

class Till extends Context {
  cents = 0;
  drawers = this.children(Drawer);
  /** Others see the change early, and must start again when it fails. */
  async payAndFail(drawer: number) {
    tries.push(drawer);
    this.cents += 1;
    this.downgrade();
    await this.drawers(drawer).open();
    throw new Error("failed in the end");
  }
}
class Drawer extends Context<number> {
  async open() {
    await gates.pass("drawers");
  }
}

test("events that each give up what they changed and fail late run at most four times each", async () => {
  const { root, stop } = await run(Till);
  const count = 2000;
  const failing = Array.from({ length: count }, (_, drawer) => root.payAndFail(drawer));
  const settled = Promise.allSettled(failing);
  await gates.reached("drawers");
  await turns();
  gates.open("drawers");
  for (const { status } of await settled) assert.equal(status, "rejected");
  const runs = new Map<unknown, number>();
  for (const drawer of tries) runs.set(drawer, (runs.get(drawer) ?? 0) + 1);
  assert.ok(Math.max(...runs.values()) <= 4, `one ran ${Math.max(...runs.values())} times`);
  await stop();
});
