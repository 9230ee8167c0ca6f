import assert from "node:assert/strict";
import { test } from "node:test";
import { Context } from "headwater";
import type { Ticket } from "#src/core/event.js";
import { Slot } from "#src/host/context/slot.js";
import { Inbox } from "#src/host/wire/inbox.js";
import { Outbox } from "#src/host/wire/outbox.js";
import type { ToHead, ToHost } from "#src/host/wire/wire.js";

class Leaf extends Context<string | number> {
  touch(...values: unknown[]) {
    return values;
  }
}
class Root extends Context {
  leaves = this.children(Leaf);
}

/** The two ends of a connection: each has a tree of its own. */
function line<M extends ToHost | ToHead>() {
  const roots = () => new Map([["Root", new Slot("Root", null, null, undefined, Root)]]);
  const [here, there] = [roots(), roots()];
  const heard: M[] = [];
  const outbox = new Outbox<M>();
  const inbox = new Inbox<M>(
    () => there,
    (message) => heard.push(message),
  );
  const pass = () => {
    inbox.open(outbox.batch(3));
    while (inbox.next());
    return heard.splice(0);
  };
  return { outbox, inbox, pass, root: here.get("Root") as Slot };
}

function leafOf(root: Slot, key: string | number): Slot {
  const [leaves] = root.shape.slots;
  assert.ok(leaves !== undefined);
  return root.child(leaves, key);
}

function runOf(slot: Slot, ticket: number, args: unknown[]): Extract<ToHost, { kind: "run" }> {
  const method = slot.shape.methods.get("touch");
  assert.ok(method !== undefined);
  const rest = { caller: null, origin: { kind: "request" }, seen: [], isAlone: true, after: null } as const;
  return {
    kind: "run",
    slot,
    method,
    ticket: ticket as Ticket,
    attempt: 1,
    time: 1,
    steadyMs: 2,
    args,
    ...rest,
  };
}

const ODD: readonly unknown[] = [
  undefined,
  null,
  -0,
  Number.NaN,
  2 ** 53,
  10n ** 30n,
  "a\ud800b",
  "𝄞",
  [1, [undefined, -0]],
  new Map([["a\udc00", new Set([1n])]]),
  new Uint8Array([1, 2]),
  new Date(5),
];

test("values of all kinds arrive as they were, as arguments and as results", () => {
  const { outbox, pass, root } = line<ToHost>();
  outbox.add(runOf(leafOf(root, 1), 7, [...ODD]));
  for (const value of ODD) outbox.add(runOf(leafOf(root, 1), 8, [value]));
  const [all, ...each] = pass() as Extract<ToHost, { kind: "run" }>[];
  assert.deepEqual(all?.args, ODD);
  assert.deepEqual(
    each.map(({ args }) => args[0]),
    ODD,
  );
  const back = line<ToHead>();
  const end = { ok: true, effects: [], writes: [], existing: [], isOver: true };
  for (const value of ODD)
    back.outbox.add({
      kind: "finish",
      node: "Root",
      ticket: 1 as Ticket,
      attempt: 1,
      value: { value },
      ...end,
    });
  const results = back.pass() as Extract<ToHead, { kind: "finish" }>[];
  assert.deepEqual(
    results.map(({ value }) => ("value" in value ? value.value : "an error")),
    ODD,
  );
});

const LATER = { attempt: 1, time: 0, steadyMs: 9, isAlone: true, after: null } as const;

test("all that a host must know of an event arrives, whatever came before it", () => {
  const { outbox, pass, root } = line<ToHost>();
  const events = [
    { ticket: 5, attempt: 1, time: 1000, steadyMs: 7, isAlone: true, after: null },
    { ticket: 9, attempt: 1, time: 1000, steadyMs: 7, isAlone: true, after: 5 },
    { ticket: 7, attempt: 300, time: 1000.5, steadyMs: 7, isAlone: false, after: null },
    { ticket: 2 ** 40, attempt: 2, time: 2 ** 41, steadyMs: 2 ** 42, isAlone: true, after: 2 ** 40 - 1 },
    { ticket: 1, attempt: 1, time: 0, steadyMs: 2 ** 42, isAlone: true, after: null, caller: "ann" },
    { ...LATER, ticket: 2, origin: { kind: "timer", id: "n:1:1@", due: 5 } },
  ] as const;
  for (const round of [1, 2]) {
    for (const event of events) outbox.add({ ...runOf(leafOf(root, round), 0, [round]), ...event } as ToHost);
    const runs = pass() as Extract<ToHost, { kind: "run" }>[];
    const told = runs.map(({ slot, method, ...rest }) => ({ ...rest, key: slot.key, method: method.name }));
    const plain = { kind: "run", args: [round], caller: null, origin: { kind: "request" }, seen: [] };
    assert.deepEqual(
      told,
      events.map((event) => ({ ...plain, ...event, key: round, method: "touch" })),
    );
  }
});

test("contexts have numbers that are said once, and begin again when there are too many", () => {
  const { outbox, pass, root } = line<ToHost>();
  const said = (key: string | number) => {
    outbox.add(runOf(leafOf(root, key), 1, []));
    const [run] = pass() as Extract<ToHost, { kind: "run" }>[];
    assert.equal(run?.slot.key, key);
    assert.notEqual(run?.slot, leafOf(root, key));
  };
  said("\ud800");
  said("\ud801");
  const CONTEXTS = 65_536 + 1000;
  for (let key = 0; key < CONTEXTS; key++) outbox.add(runOf(leafOf(root, key), key, []));
  for (const key of [0, CONTEXTS - 1, 70]) outbox.add(runOf(leafOf(root, key), key, []));
  const runs = pass() as Extract<ToHost, { kind: "run" }>[];
  assert.equal(runs.length, CONTEXTS + 3);
  assert.ok(runs.every(({ slot, ticket }) => slot.key === ticket));
});

test("numbers of evicted contexts are given to others", () => {
  const { outbox, pass, root } = line<ToHost>();
  for (let round = 0; round < 3; round++) {
    for (let key = 0; key < 100; key++) {
      outbox.add(runOf(leafOf(root, key), key, []));
      if (key % 3 === round) outbox.add({ kind: "evict", slot: leafOf(root, key) });
      if (key % 10 === 0) outbox.add({ kind: "evict", slot: leafOf(root, -1 - key) }); // one that had none
    }
    const heard = pass() as Extract<ToHost, { kind: "run" | "evict" }>[];
    const keys = heard.map(({ kind, slot }) => [kind, slot.key]);
    const expected = Array.from({ length: 100 }, (_, key) => [
      ["run", key],
      ...(key % 3 === round ? [["evict", key]] : []),
      ...(key % 10 === 0 ? [["evict", -1 - key]] : []),
    ]);
    assert.deepEqual(keys, expected.flat());
  }
  const CONTEXTS = 70_000; // more than have numbers at once
  for (let key = 0; key < CONTEXTS; key++) {
    outbox.add(runOf(leafOf(root, key), key, []));
    outbox.add({ kind: "evict", slot: leafOf(root, key) });
  }
  outbox.add(runOf(leafOf(root, 5), 5, []));
  const heard = pass() as Extract<ToHost, { kind: "run" | "evict" }>[];
  assert.equal(heard.length, 2 * CONTEXTS + 1);
  assert.ok(heard.every((message) => message.kind === "evict" || message.slot.key === message.ticket));
});

test("what is no message is refused, and batches say how many they confirm", () => {
  const { inbox, outbox } = line<ToHost>();
  outbox.add({ kind: "rollback", node: "Root", ticket: 1 as Ticket, attempt: 1 });
  const bytes = outbox.batch(3);
  assert.equal(inbox.open(bytes), 3);
  const forged = Uint8Array.of(0, 99);
  inbox.open(forged);
  assert.throws(() => inbox.next(), { code: "HW-6005" });
});
