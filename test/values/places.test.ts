import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Key, tracked } from "headwater";
import { jsonOf } from "#src/cli/journal-values.js";
import type { Ticket } from "#src/core/event.js";
import type { Slot } from "#src/host/context/slot.js";
import { Staged } from "#src/host/context/staged-state.js";
import { copiedWrites, decodeState, encodeState, storedWrites } from "#src/host/context/stored-state.js";
import { packedValue } from "#src/host/wire/packed.js";
import { PieceWriter, writesIn } from "#src/host/wire/pieces.js";
import type { EventHeader, ToHead, ToHost } from "#src/host/wire/wire.js";
import { pathOf } from "#src/model/path.js";
import { decode, encode } from "#src/state/codec.js";
import { viewOf } from "#src/state/fields.js";
import { line } from "../fleet/line.js";
import { Kept, rootOf } from "../host/kept.js";
import fc from "../properties.js";
import { assertArrived, seen } from "./equal.js";
import { contextKeys, keys, nested, storable, texts } from "./storable.js";

/** Any storable value, in every place in which the runtime writes values as bytes, comes back as it was. */

const RUNS = 400;

class Holder extends Context<Key> {
  plain: unknown = null;
  other: unknown = 1;
  items = tracked.list<unknown>();
  entries = tracked.map<string | number | boolean | bigint, unknown>();
  members = tracked.set<string | number | boolean | bigint>();
}

interface Content {
  readonly plain: unknown;
  readonly items: readonly unknown[];
  readonly entries: readonly (readonly [string | number | boolean | bigint, unknown])[];
}

const contents: fc.Arbitrary<Content> = fc.record({
  plain: storable,
  items: fc.array(storable, { maxLength: 4 }),
  entries: fc.uniqueArray(fc.tuple(keys, storable), {
    maxLength: 4,
    selector: ([key]) => `${typeof key} ${key}`,
  }),
});

function fill(holder: Holder, { plain, items, entries }: Content): void {
  holder.plain = plain;
  holder.items.push(...items);
  for (const [key, value] of entries) {
    holder.entries.set(key, value);
    holder.members.add(key);
  }
}

function assertHolds(slot: Slot, state: readonly unknown[] | null, content: Content, where: string): void {
  assert.ok(state, where);
  const view = viewOf(slot, state) as unknown as Holder;
  assertArrived(view.plain, content.plain, `${where}, a plain field`);
  assertArrived([...view.items], content.items, `${where}, the items of a list`);
  const normal = content.entries.map(([key, value]) => [key === 0 ? 0 : key, value] as const);
  assertArrived([...view.entries], normal, `${where}, the entries of a map`);
  assertArrived(
    [...view.members],
    normal.map(([key]) => key),
    `${where}, the items of a set`,
  );
}

/** How a state gets from one place to another; each gives what arrives there. */
const STATE_PATHS: Readonly<
  Record<string, (kept: Kept) => { slot: Slot; state: readonly unknown[] | null }>
> = {
  "loaded from the journal": (kept) => kept.reload(),
  "loaded, changed elsewhere and loaded again": (kept) => {
    const loaded = kept.reload();
    loaded.change<Holder>((holder) => {
      holder.other = 2;
      holder.items.push(null);
      holder.items.pop();
    });
    return loaded.reload();
  },
  "as one value": ({ slot, present }) => ({ slot, state: decodeState(slot, encodeState(slot, present)) }),
  "moved from memory": ({ slot, present }) => moved(copiedWrites(slot, present), undefined),
  "moved from memory, unread": ({ slot, present }) => moved(copiedWrites(slot, present), 1),
  "moved twice, unread": ({ slot, present }) => {
    const { slot: there, state } = moved(copiedWrites(slot, present), 1);
    assert.ok(state);
    return moved(copiedWrites(there, state), 1);
  },
  "moved from the journal": ({ slot, journal }) => moved(storedWrites(journal, slot), undefined),
};

function moved(
  writes: ReturnType<typeof copiedWrites>,
  unreadBytes: number | undefined,
): { slot: Slot; state: readonly unknown[] | null } {
  const slot = rootOf(Holder);
  const piece = new PieceWriter(1);
  for (const write of writes) piece.add(pathOf(slot), false, write);
  const staged = new Staged(slot, unreadBytes);
  for (const write of writesIn(piece.end())) staged.put(write);
  return { slot, state: staged.state() };
}

for (const [where, arrive] of Object.entries(STATE_PATHS)) {
  test(`any value in any field of a context is the same when the context was ${where}`, () => {
    fc.assert(
      fc.property(contents, (content) => {
        const kept = new Kept(rootOf(Holder));
        kept.change<Holder>((holder) => fill(holder, content));
        const { slot, state } = arrive(kept);
        assertHolds(slot, state, content, where);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });
}

test("any value comes back from its bytes, equal data has equal bytes, and every journal value can be shown", () => {
  fc.assert(
    fc.property(storable, (value) => {
      const bytes = encode(seen(value));
      assertArrived(decode(bytes), value, "decoded");
      assert.deepEqual(encode(decode(bytes)), bytes);
      assert.doesNotThrow(() => JSON.parse(jsonOf(bytes)));
    }),
    { numRuns: 4 * RUNS, includeErrorInReport: true },
  );
});

test("values that are as deep as they may be come back", () => {
  const wraps: ((inner: unknown) => unknown)[] = [
    (inner) => [inner],
    (inner) => [null, inner],
    (inner) => ({ "\ud800": inner }),
    (inner) => new Map([[inner, null]]),
    (inner) => new Set([inner]),
    (inner) => new Error("deep", { cause: inner }),
  ];
  for (const wrap of wraps) {
    const value = nested(-0, 199, wrap);
    assertArrived(decode(encode(seen(value))), value, "deep");
  }
});

/** What a journal of an earlier version has for a list whose only item is null: the bytes that were written then. */
test("an item of a list that was written as [null] by an earlier version is null", () => {
  const kept = new Kept(rootOf(Holder));
  kept.change<Holder>(({ items }) => items.push("x"));
  const [key] = kept.keys.filter((each) => each.includes("items"));
  assert.ok(key);
  kept.journal.append([{ key, value: Uint8Array.of(0x91, 0xc0) }], () => {});
  const { slot, state } = kept.reload();
  assert.ok(state);
  assert.deepEqual([...(viewOf(slot, state) as unknown as Holder).items], [null]);
  assert.equal(jsonOf(Uint8Array.of(0x91, 0xc0)), "[null]");
});

class Leaf extends Context<Key> {
  touch(...values: unknown[]) {
    return values;
  }
}
class Root extends Context {
  leaves = this.children(Leaf);
}

const TRY = { node: "Root", ticket: 7 as Ticket, attempt: 1 };

/** Everything that the application has in a message to a host, and how it is found in what arrived. */
function toHost(slot: Slot, value: unknown, caller: string): ToHost[] {
  const method = slot.shape.methods.get("touch");
  assert.ok(method);
  const path = pathOf(slot);
  const state = encode([value]);
  const seenAbove = [[path, state]] as const;
  const header: EventHeader = {
    slot,
    method,
    ticket: 7 as Ticket,
    attempt: 1,
    time: 5,
    steadyMs: 6,
    args: [seen(value)],
    caller,
    origin: { kind: "request" },
    seen: seenAbove,
    isAlone: false,
    after: null,
  };
  const ended = { ok: true, value: { value: seen(value) }, effects: [], writes: [], existing: [] };
  const failed = {
    ok: false,
    value: { code: "HW-1004", message: caller },
    effects: [],
    writes: [],
    existing: [],
  };
  const callers = [
    [path, true, seenAbove[0][1]],
    [path, false, ["HW-1006", packedValue(caller)]],
  ] as const;
  const asked = {
    path,
    method: "touch",
    args: [seen(value), 1],
    positions: [1],
    within: 2,
    callers,
    seen: seenAbove,
  };
  return [
    { kind: "run", ...header },
    { kind: "run", ...header, seen: [], args: [seen(value), seen(value)] },
    { kind: "call", ...TRY, call: 1, header, asked, held: [path], seen: seenAbove },
    { kind: "enter", ...TRY, ask: 3, held: [path], seen: seenAbove },
    { kind: "returned", ...TRY, ask: 1, call: 2, doom: null, ...ended },
    { kind: "returned", ...TRY, ask: 1, call: 2, doom: failed.value, ...failed },
    { kind: "refused", ...TRY, ask: 1, error: failed.value },
    { kind: "view", ...TRY, path, look: 1 },
    { kind: "handOver", node: "Root", paths: [path, path] },
    { kind: "copyContexts", node: "Root", copy: 1, paths: [path], anew: [path], bytes: 1000 },
    { kind: "install", node: "Root", copy: 1, paths: [path] },
    { kind: "evict", slot },
  ];
}

function toHead(slot: Slot, value: unknown, client: string): ToHead[] {
  const path = pathOf(slot);
  const args = [seen(value)];
  const entered = [[path, encode([value])]] as const;
  const callers = [
    [path, true, encode([value])],
    [path, false, ["HW-1006", packedValue(client)]],
  ] as const;
  const effects = [
    { kind: "start", node: "Root", path, method: "touch", args },
    { kind: "send", node: "Root", path, method: "touch", args, sender: client },
    { kind: "tell", client, message: seen(value) },
    { kind: "timer", id: "Root:1:1@", owner: path, due: 0.5, path, method: "touch", args },
    { kind: "outside", outside: "pay", input: seen(value), path, method: null, args },
  ] as const;
  const ended = {
    ok: true,
    value: { value: seen(value) },
    writes: [],
    existing: [[path, true, true]] as const,
  };
  const failed = {
    ok: false,
    value: { code: "HW-1004", message: client },
    effects: [],
    writes: [],
    existing: [],
  };
  return [
    { kind: "finish", ...TRY, isOver: true, ...ended, effects: [] },
    { kind: "finish", ...TRY, isOver: false, ...ended, effects },
    { kind: "finish", ...TRY, isOver: false, ...failed },
    { kind: "return", ...TRY, call: 1, doom: null, entered, ...ended, effects },
    {
      kind: "ask",
      ...TRY,
      ask: 1,
      path,
      method: "touch",
      args,
      positions: [1, 2],
      within: 0,
      callers,
      seen: entered,
    },
    {
      kind: "ask",
      ...TRY,
      ask: 2,
      path,
      method: "(list)",
      args,
      positions: [1],
      within: 0,
      callers: [],
      seen: [],
      existing: [[path, false, true]],
    },
    { kind: "callsRolledBack", ...TRY, ask: 1, writes: [], existing: [], entered },
    { kind: "restart", ...TRY },
    { kind: "release", ...TRY, path, changed: true },
    { kind: "viewed", ...TRY, path, look: 1, state: null },
  ];
}

/** A message without what is another object at the other end: slots, methods, and bytes that are seen through a Buffer. */
function comparable(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Object.getPrototypeOf(part) !== Object.prototype && !Array.isArray(part)) return part;
  if (Array.isArray(part)) return part.map(comparable);
  const fields = Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, item]) => [name, comparableField(name, item)]));
}

function comparableField(name: string, item: unknown): unknown {
  switch (name) {
    case "slot":
      return String(item);
    case "method":
      return typeof item === "object" && item !== null ? (item as { name: string }).name : item;
    case "seen":
    case "entered":
      return (item as [unknown, Uint8Array][]).map(([path, state]) => [comparable(path), Buffer.from(state)]);
    case "callers":
      return (item as [unknown, boolean, unknown][]).map(([path, isHeld, state]) => {
        const parts = Array.isArray(state) ? state : [state];
        return [
          comparable(path),
          isHeld,
          parts.map((part) => (part instanceof Uint8Array ? Buffer.from(part) : part)),
        ];
      });
    case "args":
    case "input":
    case "message":
      return item;
    case "value":
      return typeof item === "object" && item !== null && "code" in item ? comparable(item) : item;
    default:
      return comparable(item);
  }
}

test("messages between head and hosts arrive as they were, with any value, context key and client name in them", () => {
  fc.assert(
    fc.property(storable, contextKeys, texts, (value, key, name) => {
      const down = line<ToHost>(Root);
      const slot = down.child(key as Key);
      for (const message of toHost(slot, value, name)) {
        down.outbox.add(message);
        const [arrived] = down.pass();
        assert.ok(arrived);
        assertArrived(comparable(arrived), comparable(message), message.kind);
      }
      const up = line<ToHead>(Root);
      for (const message of toHead(up.child(key as Key), value, name)) {
        up.outbox.add(message);
        const [arrived] = up.pass();
        assert.ok(arrived);
        assertArrived(comparable(arrived), comparable(message), message.kind);
      }
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

test("contexts whose keys differ are different contexts at the other end, and in the journal", () => {
  fc.assert(
    fc.property(fc.array(contextKeys, { minLength: 12, maxLength: 24 }), (several) => {
      const { child, thereOf } = line<ToHost>(Root);
      const slots = new Set(several.map((key) => child(key as Key)));
      assert.equal(new Set([...slots].map(thereOf)).size, slots.size);
      assert.equal(new Set([...slots].map(({ stored }) => stored.key)).size, slots.size);
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});
