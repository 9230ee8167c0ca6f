import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Key, tracked } from "headwater";
import type { Slot } from "#src/host/context/slot.js";
import { decodeState, encodeState, loadState, stateWrites } from "#src/host/context/stored-state.js";
import type { Write } from "#src/journal/journal.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { Random } from "#src/random.js";
import { armedIn, initialState, instantiate, type State, stateOf } from "#src/state/fields.js";
import { refusedAtOnce } from "../refused.js";
import { assertSame, bytesOf, Kept, rootOf, shown } from "./kept.js";
import { changeSomething, Thing } from "./thing.js";

class Things extends Context {
  things = this.children(Thing);
  "things(1).odd" = this.child(Other);
}
class Other extends Context {
  n = 0;
}

function below(root: Slot, key: Key): Slot {
  const [slot] = root.shape.slots;
  assert.ok(slot);
  return root.child(slot, key);
}

const SEEDS = 60;
const CHANGES = 60;
test("whatever was changed, a later run loads what was written", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    let kept = new Kept(rootOf(Thing));
    for (let i = 0; i < CHANGES; i++) {
      if (random.chance(0.1)) kept = kept.reload();
      const before = kept.present;
      kept.change<Thing>((thing) => changeSomething(thing, random));
      assertSame(kept.slot, loadState(kept.journal, kept.slot), kept.present);
      if (random.chance(0.1)) kept.write(before); // the versions of tracked fields go back
      const copied = decodeState(kept.slot, encodeState(kept.slot, kept.present));
      assertSame(kept.slot, copied, kept.present);
    }
    assertSame(kept.slot, kept.reload().state, kept.present);
  }
});

test("timers are part of what is written, each by itself", () => {
  const kept = new Kept(rootOf(Other));
  const armed = (state: State | null) => [...armedIn(kept.slot, state ?? [])];
  const change = (act: (timers: ReturnType<typeof armedIn>) => void) => {
    const timers = armedIn(kept.slot, kept.present);
    act(timers);
    const instance = instantiate(kept.slot, kept.present);
    kept.write(stateOf(instance, kept.slot, kept.present, timers));
    assert.deepEqual(armed(kept.reload().state), armed(kept.present));
  };
  change((timers) => timers.set("1:1", 500));
  const before = kept.state;
  for (let i = 2; i < 1000; i++) change((timers) => timers.set(`${i}:1.10`, 500 + i));
  change((timers) => timers.delete("500:1.10"));
  assert.equal(kept.writes.length, 1);
  assert.equal(armed(kept.state).length, 998);
  kept.write(before ?? []);
  assert.deepEqual(armed(kept.reload().state), [["1:1", 500]]);
  kept.write([...initialState(kept.slot)]);
  assert.deepEqual(armed(kept.reload().state), []);
  assert.deepEqual(kept.keys, [kept.slot.stored.key]);
  kept.write(before ?? []);
  kept.write(initialState(kept.slot)); // it is deleted
  assert.deepEqual(kept.keys, []);
});

test("a change in a tracked collection is written by itself, however large the collection is", () => {
  for (const size of [100, 30_000]) {
    const kept = new Kept(rootOf(Thing));
    kept.change<Thing>(({ scores, members, lines }) => {
      for (let i = 0; i < size; i++) {
        scores.set(`player${i}`, { points: i });
        members.add(i);
        lines.push(i);
      }
    });
    const acts: ((thing: Thing) => void)[] = [
      ({ scores }) => scores.set("player50", { points: 1 }),
      ({ scores }) => scores.set("new", { points: 1 }),
      ({ scores }) => scores.delete("player7"),
      ({ members }) => members.add(-1),
      ({ members }) => members.delete(50),
      ({ lines }) => lines.push(1),
      ({ lines }) => lines.set(50, "x"),
      ({ lines }) => lines.shift(),
      ({ lines }) => lines.unshift("y"),
      ({ lines }) => lines.pop(),
    ];
    for (const act of acts) {
      const writes = kept.change<Thing>(act);
      assert.equal(writes.length, 1, String(act));
      assert.ok(bytesOf(writes) < 70, `${act}: ${bytesOf(writes)} bytes`);
    }
    const writes = kept.change<Thing>((thing) => thing.count++);
    assert.deepEqual([writes.length, bytesOf(writes) < 120], [1, true]);
    assertSame(kept.slot, kept.reload().state, kept.present);
    assert.ok(kept.change<Thing>(({ lines }) => lines.splice(50, 1)).length <= 51);
    assert.equal(kept.change<Thing>(({ scores }) => scores.clear()).length, size + 1);
    assert.equal(kept.keys.filter((key) => key.includes("scores")).length, 0);
  }
});

test("a large plain field is not written when another one changes", () => {
  class Document extends Context {
    edits = 0;
    text = "";
    layout: { readonly widths: number[] } = { widths: [] };
    title: unknown = [];
  }
  const kept = new Kept(rootOf(Document));
  kept.change<Document>((document) => {
    document.text = "t".repeat(100_000);
    document.layout = { widths: new Array(10_000).fill(7) };
  });
  assert.ok(bytesOf(kept.change<Document>((document) => document.edits++)) < 100);
  const edited = kept.change<Document>((document) => document.layout.widths.push(1));
  assert.deepEqual([edited.length, bytesOf(edited) > 10_000], [1, true]);
  const later = kept.reload();
  assertSame(later.slot, later.state, kept.present);
  assert.ok(bytesOf(later.change<Document>((document) => document.edits++)) < 100);
  later.change<Document>((document) => {
    document.text = "short";
    document.layout = { widths: [] };
  });
  assert.deepEqual(later.keys, ["c/Things/Document"]);
  assertSame(later.slot, later.reload().state, later.present);
});

test("a context with a few plain fields is one small value", () => {
  class Counter extends Context {
    count = 0;
  }
  const kept = new Kept(rootOf(Counter));
  const writes = kept.change<Counter>((counter) => counter.count++);
  assert.deepEqual(
    writes.map(({ key, value }) => [key, value?.length]),
    [["c/Things/Counter", 13]],
  );
});

test("contexts never share keys, whatever they and their fields are called", () => {
  const root = rootOf(Things);
  const odd = root.shape.slots[1];
  assert.ok(odd);
  const keys: Key[] = [
    1,
    "1",
    "1)",
    "a.b",
    "\0",
    "é".repeat(1024),
    `${"é".repeat(1023)}e`,
    ["a", "b"],
    "a, b",
    'a", "b',
    "\ud800",
    "\ud801",
  ];
  const contexts = [
    root,
    root.child(odd, undefined),
    ...keys.map((key) => below(root, key)),
    ...[rootOf(Things, "a/Things"), rootOf(Things, "a"), rootOf(Things, '"a"'), rootOf(Things, "#")],
  ];
  const journal = new MemoryJournal();
  const states = contexts.map((slot, i) => {
    const state = [...initialState(slot)];
    const after = slot.shape.fields[0] === "count" ? [i, ...state.slice(1)] : state;
    const writes: Write[] = [];
    stateWrites(slot, null, after, writes);
    for (const { key } of writes) assert.equal(journal.get(key), undefined, key);
    journal.append(writes, () => {});
    return after;
  });
  for (const [i, slot] of contexts.entries()) assertSame(slot, loadState(journal, slot), states[i] ?? []);
});

test("the order of fields may change between two runs", () => {
  class Before extends Context {
    static override readonly name: string = "Same";
    a = 1;
    b = tracked.map<string, number>();
    c = "c";
  }
  class After extends Context {
    static override readonly name: string = "Same";
    c = "";
    b = tracked.map<string, number>();
    a = 0;
  }
  const kept = new Kept(rootOf(Before));
  kept.change<Before>(({ b }) => b.set("x", 1));
  const later = kept.reload(After);
  assert.deepEqual(shown(later.slot, later.present), { c: "c", b: new Map([["x", 1]]), a: 1 });
  assert.equal(later.change<After>(({ b }) => b.set("y", 2)).length, 1);
  later.change<After>((self) => (self.a = 5));
  const again = later.reload(Before);
  assert.deepEqual(shown(again.slot, again.present), {
    a: 5,
    b: new Map([
      ["x", 1],
      ["y", 2],
    ]),
    c: "c",
  });
});

test("nothing is loaded of a context that was never written, or from damaged values", () => {
  const kept = new Kept(rootOf(Thing));
  assert.equal(loadState(kept.journal, kept.slot), null);
  kept.change<Thing>(({ lines }) => lines.push("a", "b", "c"));
  const middle = kept.keys.find((key) => key.endsWith("n1"));
  kept.journal.append([{ key: middle ?? "", value: null }], () => {});
  refusedAtOnce(() => kept.reload(), "HW-1107", '"lines"');
  kept.journal.append([{ key: "c/Things/Thing", value: Uint8Array.of(0x90) }], () => {});
  refusedAtOnce(() => kept.reload(), "HW-1107");
});
