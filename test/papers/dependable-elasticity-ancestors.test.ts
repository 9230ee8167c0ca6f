import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { AnonymousContext, Context, type Ref, readonly, reads, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";
import { refused } from "../refused.js";

/** "Dependable Elasticity", section 3: what an event may call, what it may read above it, and who waits for whom. */

let gates = new Gates();
let tries: number[] = [];
beforeEach(() => {
  gates = new Gates();
  tries = [];
});

class Calculator extends AnonymousContext {
  double(n: number) {
    return n * 2;
  }
}
class Life extends Context {
  rule = 1;
  cells = this.children(Cell);
  calculator = this.child(Calculator);

  async setRule(rule: number, gate?: string) {
    this.rule = rule;
    if (gate !== undefined) await gates.pass(gate);
    return this.rule;
  }
  /** Gives the global context up with a new rule, and fails in the end if told so. */
  async tryRule(rule: number, gate: string, fails: boolean) {
    this.rule = rule;
    this.downgrade();
    await this.cells(9, 9).wait(gate);
    if (fails) throw new Error("the rule did not work");
  }
  @readonly look() {
    return this.rule;
  }
}
class Cell extends Context<readonly [x: number, y: number]> {
  value = 0;

  async wait(gate: string) {
    await gates.pass(gate);
  }
  @reads(Life) async compute(gate?: string) {
    if (gate !== undefined) await gates.pass(gate);
    this.value = this.event.read(Life).rule;
    tries.push(this.value);
    return this.value;
  }
  @reads(Life) async computeTwice(gate: string) {
    const first = this.event.read(Life).rule;
    await gates.pass(gate);
    return [first, this.event.read(Life).rule];
  }
  async callGlobal() {
    await (this.above(Life) as unknown as Ref<Life>).setRule(0);
  }
  async computeUndeclared() {
    return this.event.read(Life).rule;
  }
  @readonly look() {
    return this.value;
  }
}

test("§3.1 the global context may call a cell, and not the other way round", async () => {
  const { root, stop } = await run(Life);
  gates.open("go");
  await root.tryRule(2, "go", false);
  await refused(root.cells(1, 2).callGlobal(), "HW-1001", "Life.cells(1, 2)", "Life.setRule");
  assert.equal(await root.look(), 2);
  await stop();
});

test("§3.1 an event can read from higher contexts, if it says so", async () => {
  const { root, stop } = await run(Life);
  assert.equal(await root.cells(1, 2).compute(), 1);
  await refused(root.cells(1, 2).computeUndeclared(), "HW-1012", "Life.cells(1, 2)", "Life");
  await stop();
});

test("§3.2 the snapshot of an ancestor holds all earlier events' changes and none of later ones'", async () => {
  const { root, stop } = await run(Life);
  const first = root.setRule(2, "first");
  await gates.reached("first");
  const reading = root.cells(0, 0).compute("reading");
  const second = root.setRule(3);
  gates.open("first");
  await first;
  await gates.reached("reading");
  assert.equal(await second, 3, "the cell does not hold up a later event above it");
  assert.equal(await root.look(), 3);
  gates.open("reading");
  assert.equal(await reading, 2);
  assert.equal(await root.cells(0, 0).compute(), 3);
  await stop();
});

test("§3.2 an event sees one snapshot from beginning to end", async () => {
  const { root, stop } = await run(Life);
  const reading = root.cells(0, 0).computeTwice("between");
  await gates.reached("between");
  await root.setRule(5);
  gates.open("between");
  assert.deepEqual(await reading, [1, 1]);
  await stop();
});

test("§3.2 future events wait only while an earlier one is in their context or in one that encloses it", async () => {
  const { root, stop } = await run(Life);
  const busy = root.cells(0, 0).wait("cell");
  await gates.reached("cell");
  assert.equal(await root.cells(0, 1).compute(), 1, "another cell goes ahead");
  assert.equal(await root.setRule(4), 4, "and so does the global context");
  const same = watch(root.cells(0, 0).compute());
  await turns();
  assert.equal(same.settled, false);
  gates.open("cell");
  await busy;
  const global = root.setRule(6, "global");
  await gates.reached("global");
  const cells = [root.cells(0, 1).compute(), root.cells(7, 7).look()];
  const watched = cells.map(watch);
  await turns();
  assert.deepEqual(watched, [{ settled: false }, { settled: false }]);
  gates.open("global");
  await global;
  assert.deepEqual(await Promise.all(cells), [6, 0]);
  await stop();
});

test("§3.2 an event that has read a snapshot of a change that is rolled back is run again", async () => {
  const { root, stop } = await run(Life);
  const trying = root.tryRule(8, "trying", true);
  await gates.reached("trying");
  const reading = root.cells(0, 0).compute();
  const watched = watch(reading);
  await turns();
  assert.equal(watched.settled, false);
  gates.open("trying");
  await assert.rejects(trying, /did not work/);
  assert.equal(await reading, 1);
  assert.equal(tries.at(-1), 1);
  assert.equal(await root.cells(0, 0).look(), 1);
  await stop();
});

test("§3.2 a snapshot of a change that is kept stays as it is", async () => {
  const { root, stop } = await run(Life);
  const trying = root.tryRule(8, "trying", false);
  await gates.reached("trying");
  const reading = root.cells(0, 0).compute();
  const later = root.setRule(9);
  await turns();
  gates.open("trying");
  await trying;
  assert.equal(await reading, 8);
  assert.equal(await later, 9);
  assert.deepEqual(tries, [8]);
  await stop();
});

test("figure 2: an anonymous context holds no state, so its events wait for nobody", async () => {
  const { root, stop } = await run(Life);
  const busy = root.setRule(2, "busy");
  await gates.reached("busy");
  assert.equal(await root.calculator.double(21), 42);
  gates.open("busy");
  await busy;
  await stop();
});
