import assert from "node:assert/strict";
import { test } from "node:test";
import { AnonymousContext, Context, type ContextClass, readonly, reads } from "headwater";
import type { Step } from "#src/model/path.js";
import { type FiredTimer, SequentialProgram } from "#src/sim/oracle/sequential.js";
import type { SequentialEvent } from "#src/sim/oracle/sequential-event.js";

/** Runs events of one logical node, giving out tickets. */
class Runner {
  readonly program: SequentialProgram;
  #ticket = 0;

  constructor(root: ContextClass, peers: Record<string, ContextClass> = {}) {
    this.program = new SequentialProgram({ main: root, ...peers });
  }

  run(
    path: Step[],
    method: string,
    args: unknown[] = [],
    { timer, ...more }: Partial<SequentialEvent> & { timer?: FiredTimer } = {},
  ) {
    this.#ticket += 1;
    const facts = { node: "main", ticket: this.#ticket, path, method, args, time: 7, caller: undefined };
    return this.program.run({ ...facts, ...more }, timer);
  }

  async value(path: Step[], method: string, ...args: unknown[]) {
    const outcome = await this.run(path, method, args);
    assert.ok(outcome.ok, outcome.ok ? "" : outcome.error.message);
    return outcome.value;
  }

  async code(path: Step[], method: string, ...args: unknown[]) {
    const outcome = await this.run(path, method, args);
    assert.ok(!outcome.ok, `${method} should have failed`);
    assert.deepEqual(outcome.later, []);
    return outcome.error.code ?? outcome.error.message;
  }

  states() {
    return Object.fromEntries(this.program.states("main"));
  }
}

class Leaf extends Context<number> {
  items: number[] = [];
  @readonly size() {
    return this.items.length;
  }
  add(item: number) {
    this.items.push(item);
    return this.items.length;
  }
  addAndFail(item: number): never {
    this.items.push(item);
    this.event.start(this.above(Tree)).note("a failed call asked for this");
    throw new RangeError(`no ${item}`);
  }
  addThenGiveUp(item: number) {
    this.items.push(item);
    this.downgrade();
  }
  async addSlowly(item: number) {
    const before = this.items.length;
    await null;
    this.items.push(item * 10 + before);
  }
  give() {
    return this.items;
  }
  take(notes: string[]) {
    notes.push("changed by somebody else");
  }
  callUp() {
    return (this.above(Tree) as unknown as Tree).note("up");
  }
  callSelf() {
    return (this.above(Leaf) as unknown as Leaf).size();
  }
  callSide() {
    return (this.above(Tree).leaves(99) as unknown as Leaf).size();
  }
  readTree() {
    return this.event.read(Tree).notes;
  }
  readDeclared() {
    return this.event.read(Tree);
  }
}

class Tree extends Context {
  notes: string[] = [];
  leaves = this.children(Leaf);
  relays = this.children(Relay);

  note(text: string) {
    this.notes.push(text);
  }
  async addTo(leaf: number, item: number) {
    this.notes.push(`add ${item}`);
    return await this.leaves(leaf).add(item);
  }
  async failAfterAdding(leaf: number) {
    this.notes.push("gone");
    await this.leaves(leaf).add(1);
    this.event.start(this.leaves(leaf)).add(2);
    throw new Error("after all");
  }
  async catches(leaf: number) {
    await this.leaves(leaf).add(1);
    this.event.start(this.leaves(0)).add(10);
    const caught = await this.leaves(leaf)
      .addAndFail(2)
      .catch((error: Error) => error.message);
    this.event.start(this.leaves(0)).add(11);
    this.notes.push(String(caught));
    return this.leaves(leaf).size();
  }
  async together() {
    await Promise.all([
      this.leaves(1).addSlowly(1),
      this.leaves(1).addSlowly(2),
      this.leaves(2).addSlowly(3),
    ]);
  }
  async effectsInOrder() {
    this.event.send("ada", "first");
    const calls = [this.relays(2).tell("second"), this.relays(1).tell("third")];
    this.event.send("ada", "fourth");
    await Promise.all(calls);
    this.event.send("ada", "fifth");
  }
  @readonly async readonlyCallsWriter() {
    return await this.leaves(0).add(1);
  }
  @readonly async readonlyCallsReader() {
    return await this.leaves(0).size();
  }
  @readonly writes() {
    this.notes.push("not allowed");
  }
  forgets() {
    void this.leaves(0).add(1);
    return "done";
  }
  async forgetsWhatFollows() {
    void this.leaves(0)
      .add(1)
      .then((size) => this.leaves(size).add(1));
  }
  async waitsForWhatFollows() {
    const slow = this.leaves(1)
      .addSlowly(1)
      .then(() => this.leaves(2).add(2))
      .then((size) => this.note(`size ${size}`));
    await Promise.race([slow, this.leaves(3).size()]);
  }
  async givesUpTwice() {
    this.notes.push("kept");
    this.downgrade();
    this.downgrade();
    await this.leaves(3).addThenGiveUp(1);
    return this.notes.length;
  }
  writesAfterDowngrade() {
    this.downgrade();
    this.notes.push("too late");
  }
  async reenters() {
    this.downgrade();
    await this.leaves(3).addThenGiveUp(1);
    return await this.leaves(3).size();
  }
  async downgradesBelow() {
    await this.leaves(3).addThenGiveUp(1);
  }
  @readonly readonlyDowngrade() {
    this.downgrade();
  }
  storesFunction() {
    (this.notes as unknown[]).push(() => 1);
  }
  returnsFunction() {
    return () => 1;
  }
  async passesFunction() {
    await this.leaves(0).add((() => 1) as unknown as number);
  }
  async readsBelow() {
    this.notes.push("seen below");
    return await this.leaves(0).readTree();
  }
  async mutatesWhatItGot() {
    (await this.leaves(5).give()).push(99);
    return await this.leaves(5).size();
  }
  async passesItsOwn() {
    await this.leaves(6).take(this.notes);
    return this.notes;
  }
  async setsTimers() {
    const first = this.event.after(5, this.note, "one");
    const nested = await this.relays(0).setTimer();
    return [first, nested, this.event.after(6, this.note, "two")];
  }
  cancels(timer: string) {
    this.event.cancel(timer);
  }
}

reads(Tree)(Leaf.prototype.readDeclared);

class Relay extends Context<number> {
  async tell(text: string) {
    if (text === "second") await null;
    this.event.send("ada", text);
  }
  setTimer() {
    return this.event.after(0, this.tell, "late");
  }
}

class Plain extends AnonymousContext {
  say(text: string) {
    this.event.send("ada", text);
    return this.event.caller;
  }
}

const leaf = (key: number): Step[] => [{ field: "leaves", key }];

test("an event runs to its end, with its calls below, and its state stays", async () => {
  const tree = new Runner(Tree);
  assert.equal(await tree.value([], "addTo", 4, 42), 1);
  assert.equal(await tree.value(leaf(4), "size"), 1);
  assert.deepEqual(tree.states(), { main: { notes: ["add 42"] }, "main.leaves(4)": { key: 4, items: [42] } });
});

test("an event that throws changes nothing and asks for nothing", async () => {
  const tree = new Runner(Tree);
  await tree.value(leaf(1), "add", 5);
  assert.equal(await tree.code([], "failAfterAdding", 1), "after all");
  assert.deepEqual(tree.states(), { "main.leaves(1)": { key: 1, items: [5] } });
});

test("a caught error undoes what the failed call did, and nothing else", async () => {
  const tree = new Runner(Tree);
  const outcome = await tree.run([], "catches", [1]);
  assert.equal(outcome.ok && outcome.value, 1);
  const start = { kind: "start", path: leaf(0), method: "add" };
  assert.deepEqual(outcome.later, [
    { ...start, args: [10] },
    { ...start, args: [11] },
  ]);
  assert.deepEqual(tree.states(), { main: { notes: ["no 2"] }, "main.leaves(1)": { key: 1, items: [1] } });
});

test("a caught error undoes the calls that the failed call had made, however deep", async () => {
  class Bottom extends Context {
    count = 0;
    add() {
      this.count += 1;
    }
  }
  class Middle extends Context {
    bottom = this.child(Bottom);
    async addThenFail() {
      await this.bottom.add();
      throw new Error("no");
    }
  }
  class Top extends Context {
    middle = this.child(Middle);
    caught = 0;
    async catches() {
      await this.middle.bottom.add();
      await this.middle.addThenFail().catch(() => {});
      this.caught += 1;
    }
  }
  const top = new Runner(Top);
  await top.value([], "catches");
  assert.deepEqual(top.states(), { main: { caught: 1 }, "main.middle.bottom": { count: 1 } });
});

test("what a forgotten call does after the event has failed is undone too", async () => {
  class Slow extends Context {
    count = 0;
    async add() {
      for (let turn = 0; turn < 20; turn++) await null;
      this.count += 1;
    }
    look() {
      return this.count;
    }
  }
  class Top extends Context {
    slow = this.child(Slow);
    forgets() {
      void this.slow.add();
    }
  }
  const top = new Runner(Top);
  assert.equal(await top.code([], "forgets"), "HW-1005");
  assert.deepEqual(top.states(), {});
  assert.equal(await top.value([{ field: "slow" }], "look"), 0);
});

test("nothing may be done by what Promise.race went on without, when the method has returned", async () => {
  const tree = new Runner(Tree);
  assert.equal(await tree.code([], "waitsForWhatFollows"), "HW-1026");
  assert.deepEqual(tree.states(), {});
});

test("parallel calls on one context run one after the other, in the order of the calls", async () => {
  const tree = new Runner(Tree);
  await tree.value([], "together");
  assert.deepEqual(tree.states(), {
    "main.leaves(1)": { key: 1, items: [10, 21] },
    "main.leaves(2)": { key: 2, items: [30] },
  });
});

test("effects stand in the order of the program text, also those of parallel calls", async () => {
  const { later } = await new Runner(Tree).run([], "effectsInOrder");
  const texts = later.map((effect) => effect.kind === "tell" && effect.message);
  assert.deepEqual(texts, ["first", "second", "third", "fourth", "fifth"]);
});

test("the rules are enforced with their codes", async () => {
  const tree = new Runner(Tree);
  assert.equal(await tree.code(leaf(0), "callUp"), "HW-1001");
  assert.equal(await tree.code(leaf(0), "callSelf"), "HW-1001");
  assert.equal(await tree.code(leaf(0), "callSide"), "HW-1002");
  assert.equal(await tree.code([], "reenters"), "HW-1003");
  assert.equal(await tree.code([], "downgradesBelow"), "HW-1004");
  assert.equal(await tree.code([], "forgets"), "HW-1005");
  assert.equal(await tree.code([], "forgetsWhatFollows"), "HW-1005");
  assert.equal(await tree.code([], "storesFunction"), "HW-1006");
  assert.equal(await tree.code([], "returnsFunction"), "HW-1006");
  assert.equal(await tree.code([], "passesFunction"), "HW-1006");
  assert.equal(await tree.code([], "writesAfterDowngrade"), "HW-1009");
  assert.equal(await tree.code([], "writes"), "HW-1010");
  assert.equal(await tree.code([], "readonlyCallsWriter"), "HW-1011");
  assert.equal(await tree.code(leaf(0), "readTree"), "HW-1012");
  assert.equal(await tree.code([], "readonlyDowngrade"), "HW-1019");
  assert.equal(await tree.code([], "cancels", "main:1:1@.relays(0)"), "HW-1021");
  assert.deepEqual(tree.states(), {});
});

test("what the rules allow is allowed: reading down, giving up twice, calls after giving up", async () => {
  const tree = new Runner(Tree);
  assert.equal(await tree.value([], "readonlyCallsReader"), 0);
  assert.equal(await tree.value([], "givesUpTwice"), 1);
  assert.deepEqual(tree.states(), { main: { notes: ["kept"] }, "main.leaves(3)": { key: 3, items: [1] } });
});

test("a declared ancestor is read as of the event, a held one as the event has changed it", async () => {
  const tree = new Runner(Tree);
  await tree.value([], "note", "before");
  assert.deepEqual(await tree.value(leaf(0), "readDeclared"), { notes: ["before"] });
  assert.deepEqual(await tree.value([], "readsBelow"), ["before", "seen below"]);
});

test("values that cross a context boundary are copies", async () => {
  const tree = new Runner(Tree);
  assert.equal(await tree.value([], "mutatesWhatItGot"), 0);
  assert.deepEqual(await tree.value([], "passesItsOwn"), []);
});

test("timers are named by their position in the event; a cancelled one does nothing", async () => {
  const tree = new Runner(Tree);
  const outcome = await tree.run([], "setsTimers");
  assert.ok(outcome.ok);
  const names = ["main:1:1@", "main:1:2.1@.relays(0)", "main:1:3@"];
  assert.deepEqual(outcome.value, names);
  assert.deepEqual(
    outcome.later.map((effect) => effect.kind === "timer" && [effect.id, effect.ms, effect.method]),
    [
      [names[0], 5, "note"],
      [names[1], 0, "tell"],
      [names[2], 6, "note"],
    ],
  );
  const { later } = await tree.run([], "cancels", [names[2]]);
  assert.deepEqual(later, [{ kind: "cancel", timer: names[2] }]);
  await tree.run([], "note", ["one"], { timer: { id: "main:1:1@", owner: [] } });
  await tree.run([], "note", ["two"], { timer: { id: "main:1:3@", owner: [] } });
  assert.deepEqual(tree.states(), { main: { notes: ["one"] } });
});

test("a broken rule that dooms the event cannot be caught", async () => {
  class Below extends Context {
    count = 0;
    @readonly writes() {
      this.count += 1;
    }
  }
  class Above extends Context {
    below = this.child(Below);
    tries = 0;
    async catches() {
      this.tries += 1;
      await this.below.writes().catch(() => {});
      return "caught";
    }
  }
  const above = new Runner(Above);
  assert.equal(await above.code([], "catches"), "HW-1010");
  assert.deepEqual(above.states(), {});
});

test("an anonymous context runs events, and sees who called", async () => {
  class Root extends Context {
    plain = this.child(Plain);
  }
  const outcome = await new Runner(Root).run([{ field: "plain" }], "say", ["hello"], { caller: "bob" });
  assert.equal(outcome.ok && outcome.value, "bob");
  assert.deepEqual(outcome.later, [{ kind: "tell", client: "ada", message: "hello" }]);
});

test("messages to other logical nodes are noted with the node and the path", async () => {
  class Peer extends Context {
    leaves = this.children(Leaf);
  }
  class Root extends Context {
    sends() {
      this.event.send(this.event.peer(Peer).leaves(7)).add(1);
    }
    startsThere() {
      this.event.start(this.event.peer(Peer).leaves(7)).add(1);
    }
    sendsHome() {
      this.event.send(this.above(Root)).sends();
    }
    asksForNobody() {
      this.event.peer(Tree);
    }
  }
  const root = new Runner(Root, { other: Peer });
  const { later } = await root.run([], "sends");
  assert.deepEqual(later, [
    { kind: "send", node: "other", path: leaf(7), method: "add", args: [1], sender: "main" },
  ]);
  assert.equal(await root.code([], "startsThere"), "HW-1018");
  assert.equal(await root.code([], "sendsHome"), "HW-1018");
  assert.equal(await root.code([], "asksForNobody"), "HW-1020");
});
