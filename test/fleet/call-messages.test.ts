import assert from "node:assert/strict";
import { test } from "node:test";
import { Context } from "headwater";
import { Slot } from "#src/host/context/slot.js";
import { Inbox } from "#src/host/wire/inbox.js";
import { Outbox } from "#src/host/wire/outbox.js";
import type { ToHead, ToHost } from "#src/host/wire/wire.js";
import fc from "../properties.js";

/** Messages about calls between hosts arrive as they were, whatever is in them and whatever was in the batch before. */

class Root extends Context {
  touch(): void {}
}

const root = () => new Slot("Root", null, null, undefined, Root);
const [here, there] = [root(), root()];

const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
const number = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 2 ** 40 }));
const text = fc.string({ unit: "grapheme", maxLength: 200 });
const key = fc.oneof(text, fc.integer(), fc.double({ noNaN: true }), fc.tuple(text, fc.nat()));
const field = fc.constantFrom("leaves", "rooms", "größe");
const step = fc.oneof(
  fc.record({ field, key }),
  fc.record({ field }),
  fc.record({ field, json: fc.constant('"\\ud800"') }),
);
const path = fc.array(step, { maxLength: 4 });
const states = fc.array(fc.tuple(path, bytes), { maxLength: 3 });
const odd = [
  undefined,
  null,
  -0,
  Number.NaN,
  2 ** 53,
  10n ** 30n,
  "a\ud800b",
  [1, [undefined]],
  new Map([[1, 2]]),
];
const value = fc.oneof(fc.constantFrom(...odd), fc.jsonValue({ maxDepth: 2 }));
const args = fc.array(value, { maxLength: 3 });
const existing = fc.array(fc.tuple(path, fc.boolean(), fc.boolean()), { maxLength: 3 });
const failure = fc.record({ code: fc.constant("HW-1006"), message: text });
const doom = fc.option(failure);
const attempt = fc.record({ node: fc.constant("Root"), ticket: number, attempt: number });
const end = fc.record({
  ok: fc.boolean(),
  value: fc.oneof(fc.record({ value }), failure, fc.record({ value, stack: text })),
  effects: fc.array(fc.record({ kind: fc.constant("tell"), client: text, message: value }), { maxLength: 2 }),
  writes: fc.array(fc.record({ key: text, value: fc.option(bytes) }), { maxLength: 2 }),
  existing,
});
const state = fc.oneof(bytes, fc.tuple(fc.constant("HW-1006"), text));
const asked = fc.record(
  {
    path,
    method: fc.constantFrom("touch", "look"),
    args,
    positions: fc.array(number, { maxLength: 20 }),
    within: number,
    callers: fc.array(fc.tuple(path, fc.boolean(), state), { maxLength: 3 }),
    seen: states,
    existing,
  },
  { requiredKeys: ["path", "method", "args", "positions", "within", "callers", "seen"] },
);
const above = fc.record({ held: fc.array(path, { maxLength: 3 }), seen: states });
const header = fc
  .record({ args, time: number, steadyMs: number, caller: fc.option(text), seen: states })
  .map((each) => {
    const method = here.shape.methods.get("touch");
    return { slot: here, method, ...each, origin: { kind: "request" }, isAlone: false, after: null };
  });
const isOver = fc.boolean();
const ask = number;
const call = number;

const all = <T extends object>(kind: string, ...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(attempt, ...parts).map((each) => Object.assign({ kind }, ...each) as T);

const toHead = fc.oneof(
  all<ToHead>("ask", fc.record({ ask }), asked),
  all<ToHead>("return", fc.record({ call, entered: states, doom }), end),
  all<ToHead>("finish", fc.record({ isOver }), end),
);
const toHost = fc.oneof(
  all<ToHost>("publish"),
  all<ToHost>("forget"),
  all<ToHost>("enter", fc.record({ ask }), above),
  all<ToHost>("returned", fc.record({ ask, call, doom }), end),
  fc
    .tuple(all<ToHost & { header: object }>("call", fc.record({ call, header, asked }), above))
    .map(([message]) => {
      const { ticket, attempt } = message as ToHost & { kind: "call" };
      return { ...message, header: { ...message.header, ticket, attempt } } as ToHost;
    }),
);

function arriveAsTheyWere<M extends ToHead | ToHost>(messages: fc.Arbitrary<M>): void {
  fc.assert(
    fc.property(fc.array(fc.array(messages, { maxLength: 5 }), { maxLength: 3 }), (batches) => {
      const heard: M[] = [];
      const outbox = new Outbox<M>();
      const inbox = new Inbox<M>(
        () => new Map([["Root", there]]),
        (message) => heard.push(message),
      );
      for (const batch of batches) {
        for (const message of batch) outbox.add(message);
        inbox.open(outbox.batch(0));
        while (inbox.next());
        assert.deepEqual(heard.splice(0).map(plain), batch.map(plain));
      }
    }),
  );
}

/** Each end has contexts of its own. What is a Buffer here is a view of the batch there. */
function plain(value: unknown): unknown {
  if (value === here || value === there) return "the root";
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const given = Object.entries(value).filter(([name, each]) => name !== "existing" || each !== undefined);
  return Object.fromEntries(given.map(([name, each]) => [name, plain(each)]));
}

test("what hosts say of calls and ends", () => arriveAsTheyWere(toHead));

test("what the head says of calls", () => arriveAsTheyWere(toHost));
