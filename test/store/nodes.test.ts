import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Context, type NodeService, outside, readonly, run } from "headwater";
import { memoryPorts, type Ports } from "#src/host/ports/index.js";
import { runOn } from "#src/host/run.js";
import { Ledger } from "#src/host/store/index.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { openJournal } from "#src/journal/open.js";
import { DOOR } from "#src/model/door.js";
import { headwater, packageWith, runHere } from "../cli/headwater.js";
import { temporaryDirectory } from "./support.js";

/** Names of more than 1200 bytes are not in the keys of their contexts. */
const LONG = "ü".repeat(1000);

class Note extends Context<string> {
  text = "";
  write(text: string) {
    this.text = text;
  }
  @readonly read() {
    return this.text;
  }
}

class Desk extends Context {
  notes = this.children(Note);
  printed: string[] = [];

  later(ms: number, text: string) {
    this.event.after(ms, this.print, text);
  }
  print(text: string) {
    this.printed.push(text);
  }
  tell(client: string, text: string) {
    this.event.send(client, text);
  }
  pass(to: string, text: string) {
    this.event.send(this.event.peer(Desk, to)).print(text);
  }
  ask() {
    this.event.outside(never, null);
  }
  @readonly all() {
    return this.printed;
  }
}

type Desks<Names extends string> = Record<Names, typeof Desk>;

function desks<Names extends string>(...names: Names[]): Desks<Names> {
  return Object.fromEntries(names.map((name) => [name, Desk])) as Desks<Names>;
}

test("a logical node that is added begins empty, and the others keep what they have", async (t) => {
  const journal = await temporaryDirectory(t);
  const before = await run(desks("a"), { journal });
  await before.nodes.a.notes("x").write("kept");
  await before.stop();
  await using after = await run(desks("a", "b"), { journal });
  assert.equal(await after.nodes.a.notes("x").read(), "kept");
  assert.equal(await after.nodes.b.notes("x").read(), "");
  await after.nodes.a.pass("b", "from a");
  await after.idle();
  assert.deepEqual(await after.nodes.b.all(), ["from a"]);
});

test("a program with one root class may become one with several logical nodes", async (t) => {
  const journal = await temporaryDirectory(t);
  const before = await run(Desk, { journal });
  await before.root.notes("x").write("kept");
  await before.stop();
  await using after = await run({ Desk, other: Desk }, { journal });
  assert.equal(await after.nodes.Desk.notes("x").read(), "kept");
});

test("a logical node without state can be removed, and come back", async (t) => {
  const journal = await temporaryDirectory(t);
  for (const names of [["a", "b"], ["a"], ["a", "b"], ["b"], ["b", "c"]]) {
    const service = await run(desks(...names), { journal });
    await service.idle();
    await service.stop();
  }
});

/** What a logical node can have in a journal. */
const never = outside("never", (_: null) => new Promise<null>(() => {}));

const STATE: readonly [what: RegExp, leave: (service: Running) => Promise<void>][] = [
  [/"b" \(contexts\)/, ({ nodes }) => nodes.b.notes("x").write("text")],
  [/"b" \(contexts\)/, ({ nodes }) => nodes.b.notes(LONG).write("text")],
  [/"b" \(contexts\)/, ({ nodes }) => nodes.b.print("root")],
  [/"b" \(contexts, armed timers\)/, ({ nodes }) => nodes.b.later(1_000_000, "never")],
  [/"b" \(outside calls\)/, ({ nodes }) => nodes.b.ask()],
];

type Running = NodeService<Desks<"a" | "b">>;

for (const [what, leave] of STATE) {
  test(`removing a logical node that has state is refused: ${what.source}`, async (t) => {
    const journal = await temporaryDirectory(t);
    const before = await run(desks("a", "b"), { journal });
    await before.nodes.a.print("a");
    await leave(before);
    await before.stop();
    await assert.rejects(run(desks("a"), { journal }), { code: "HW-3028", message: what });
    await assert.rejects(run(desks("a"), { journal, dropNodes: ["c"] }), { code: "HW-3028" });
    const same = await run(desks("a", "b"), { journal });
    await same.stop();
    const without = await run(desks("a"), { journal, dropNodes: ["b"] });
    assert.deepEqual(await without.nodes.a.all(), ["a"]);
    await without.stop();
    await using again = await run(desks("a", "b"), { journal });
    assert.deepEqual(await again.nodes.b.all(), []);
    assert.equal(await again.nodes.b.notes("x").read(), "");
    assert.equal(await again.nodes.b.notes(LONG).read(), "");
  });
}

/** Messages leave, and never arrive: the process ends before. */
const nothingArrives: Ports = { ...memoryPorts, transmit: () => {} };

async function withUndelivered(): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  const begun = await run(desks("a", "b"), { journal });
  await begun.nodes.a.print("a");
  await begun.nodes.b.print("b");
  begun[DOOR].listen("ada", () => {}).leave();
  await begun.stop();
  const service = runOn(nothingArrives, desks("a", "b"), {}, new Ledger(journal, 100)) as unknown as Running;
  await service.nodes.b.tell("ada", "to ada");
  await service.nodes.b.pass("a", "from b");
  await service.nodes.b.pass("a", "again");
  await service.nodes.a.pass("b", "from a");
  await service.stop({ graceMs: 0 });
  for (const prefix of ["e/a/message/b/", "e/b/message/a/", "m/b/"])
    assert.ok([...journal.range(prefix)].length > 0, prefix);
  return journal;
}

test("messages that have not arrived at a logical node are state of it", async () => {
  const journal = await withUndelivered();
  const left = { code: "HW-3028", message: /"b" \(contexts, events and messages that are to run\)/ };
  await assert.rejects(run(desks("a"), { journal }), left);
});

test("what a dropped logical node had sent arrives, and what was sent to it is dropped with it", async () => {
  const journal = await withUndelivered();
  const after = await run(desks("a"), { journal, dropNodes: ["b"] });
  await after.idle();
  const told: unknown[] = [];
  after.client("ada", (message) => told.push(message));
  await after.idle();
  assert.deepEqual(await after.nodes.a.all(), ["a", "from b", "again"]);
  assert.deepEqual(told, ["to ada"]);
  await after.stop();
  assert.deepEqual([...journal.range("m/")], []);
  await using again = await run(desks("a", "b"), { journal });
  await again.idle();
  assert.deepEqual(await again.nodes.b.all(), []);
  assert.deepEqual(await again.nodes.a.all(), ["a", "from b", "again"]);
});

test("a logical node that comes back goes on with its tickets, so that clients and outside calls cannot mistake its events", async (t) => {
  const journal = await temporaryDirectory(t);
  class Counter extends Context {
    tickets: number[] = [];
    next() {
      this.tickets.push(this.event.ticket);
      return this.event.ticket;
    }
  }
  const program = { a: Desk, counter: Counter };
  const before = await run(program, { journal });
  const ticket = await before.nodes.counter.next();
  await before.stop();
  const without = await run({ a: Desk }, { journal, dropNodes: ["counter"] });
  await without.stop();
  await using again = await run(program, { journal });
  assert.ok((await again.nodes.counter.next()) > ticket);
});

test("a program that has no logical node in common with the journal is refused, also one that drops all of them", async (t) => {
  const journal = await temporaryDirectory(t);
  const before = await run(desks("a", "b"), { journal });
  await before.nodes.b.print("b");
  await before.stop();
  await assert.rejects(run(desks("c"), { journal }), { code: "HW-3002", message: /"a: Desk, b: Desk"/ });
  await assert.rejects(run(desks("c"), { journal, dropNodes: ["a", "b"] }), { code: "HW-3002" });
  await using again = await run(desks("a", "b"), { journal });
  assert.deepEqual(await again.nodes.b.all(), ["b"]);
});

test("a logical node with state keeps its root class; a renamed one says what it is stored as", async (t) => {
  const journal = await temporaryDirectory(t);
  const before = await run({ a: Desk }, { journal });
  await before.nodes.a.print("kept");
  await before.stop();
  class Table extends Desk {}
  await assert.rejects(run({ a: Table }, { journal }), { code: "HW-3002", message: /storedAs = "Desk"/ });
  class Renamed extends Desk {
    static storedAs = "Desk";
  }
  await using after = await run({ a: Renamed }, { journal });
  assert.deepEqual(await after.nodes.a.all(), ["kept"]);
});

test("a root class that was renamed finds what it had under its old name, timers among it", async (t) => {
  const journal = await temporaryDirectory(t);
  const before = await run(Desk, { journal });
  await before.root.print("kept");
  await before.root.later(1, "timed");
  await before.stop();
  class Bureau extends Desk {}
  await assert.rejects(run(Bureau, { journal }), { code: "HW-3002", message: /storedAs = "Desk"/ });
  class Renamed extends Desk {
    static storedAs = "Desk";
  }
  await using after = await run(Renamed, { journal });
  while ((await after.root.all()).length < 2);
  assert.deepEqual(await after.root.all(), ["kept", "timed"]);
});

test("an option that cannot be meant is refused before anything is changed", async (t) => {
  const journal = await temporaryDirectory(t);
  const refused = { code: "HW-1025", message: /dropNodes/ };
  await assert.rejects(run({ a: Desk }, { journal, dropNodes: ["a"] }), refused);
  await assert.rejects(run(Desk, { journal, dropNodes: ["Desk"] }), refused);
  await assert.rejects(run({ a: Desk }, { journal, dropNodes: "b" as unknown as string[] }), refused);
  await assert.rejects(run({ a: Desk }, { dropNodes: ["b"] }), refused);
  class Wrong extends Desk {
    static storedAs = 7;
  }
  await assert.rejects(run(Wrong, { journal }), { code: "HW-1017" });
});

test("a drop of a node with many contexts, of which some have long names, leaves no key behind", async () => {
  const journal = new MemoryJournal();
  const before = await run(desks("a", "b"), { journal });
  await before.nodes.a.notes("x").write("a");
  const kept = [...journal.range("")].map(([key]) => key);
  for (let i = 0; i < 2500; i++) void before.nodes.b.notes(`${i}`).write("b");
  for (let i = 0; i < 20; i++) void before.nodes.b.notes(`${LONG}${i}`).write("b");
  await before.idle();
  await before.stop();
  const without = await run(desks("a"), { journal, dropNodes: ["b"] });
  await without.stop();
  const left = [...journal.range("")].map(([key]) => key).filter((key) => !kept.includes(key));
  assert.deepEqual(left, ["n/b"]);
});

/** Until a version ago, a journal had the names of its logical nodes in its card only. */
async function olderJournal(t: TestContext): Promise<string> {
  const journal = await temporaryDirectory(t);
  const service = await run(desks("a", "b"), { journal });
  await service.nodes.a.print("a");
  await service.nodes.b.print("b");
  await service.stop();
  const opened = await openJournal(
    journal,
    { program: "a: Desk, b: Desk", format: 1 },
    { durability: "synced" },
  );
  const names = [...opened.range("i/")].map(([key]) => ({ key, value: null }));
  assert.equal(names.length, 2);
  await new Promise((resolve) => opened.append(names, resolve));
  await opened.close();
  return journal;
}

test("a journal of an earlier version opens, also for a program with other logical nodes", async (t) => {
  const same = await olderJournal(t);
  await (await run(desks("a", "b"), { journal: same })).stop();
  const journal = await olderJournal(t);
  await assert.rejects(run(desks("c"), { journal }), { code: "HW-3002" });
  await assert.rejects(run(desks("b", "c"), { journal }), { code: "HW-3028", message: /"a" \(contexts\)/ });
  await using after = await run(desks("b", "c"), { journal, dropNodes: ["a"] });
  assert.deepEqual(await after.nodes.b.all(), ["b"]);
});

test("the command line drops a logical node, and says which ones a journal has", async (t) => {
  const journal = await temporaryDirectory(t);
  const before = await run(desks("a", "b"), { journal });
  await before.nodes.b.print("b");
  await before.stop();
  const folder = packageWith(t, {
    "desk.ts": `
      import { Context } from "headwater";
      class Desk extends Context { printed: string[] = []; }
      export default { a: Desk };
      export const main = () => {};
    `,
  });
  const refused = await runHere(folder, "run", "desk.ts", "--journal", journal);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /^error HW-3028: .*"b" \(contexts\)/m);
  assert.match((await headwater("journal", "info", journal)).stdout, /^program +a: Desk, b: Desk$/m);
  const dropped = await runHere(folder, "run", "desk.ts", "--journal", journal, "--drop-node", "b");
  assert.deepEqual([dropped.exitCode, dropped.stdout], [0, ""], dropped.stderr);
  assert.match((await headwater("journal", "info", journal)).stdout, /^program +a: Desk$/m);
});
