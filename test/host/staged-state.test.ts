import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, tracked } from "headwater";
import type { Slot } from "#src/host/context/slot.js";
import { Staged } from "#src/host/context/staged-state.js";
import { copiedWrites, stateWrites, storedWrites } from "#src/host/context/stored-state.js";
import { PieceWriter, writesIn } from "#src/host/wire/pieces.js";
import type { Write } from "#src/journal/journal.js";
import { pathOf } from "#src/model/path.js";
import { Random } from "#src/random.js";
import { assertSame, Kept, rootOf, shown } from "./kept.js";
import { changeSomething, Thing } from "./thing.js";

const SEEDS = 80;

/** A context that comes to another host: what is sent goes through pieces, as long as they get. */
class Coming {
  readonly slot: Slot;
  readonly #staged: Staged;

  /** `unreadBytes` is the length from which entries are left unread. */
  constructor(cls: unknown, unreadBytes?: number) {
    this.slot = rootOf(cls);
    this.#staged = new Staged(this.slot, unreadBytes);
  }

  take(writes: Iterable<Write>): void {
    const piece = new PieceWriter(1);
    for (const write of writes) piece.add(pathOf(this.slot), false, write);
    const bytes = piece.end();
    for (const write of writesIn(bytes)) this.#staged.put(write);
  }

  /** What the journal has of it, with a state that was put together. */
  settle({ journal }: Kept): Kept {
    const kept = new Kept(this.slot, journal);
    kept.state = this.#staged.state();
    return kept;
  }
}

function* some<T>(from: Iterator<T>, count: number): Generator<T> {
  for (let i = 0; i < count; i++) {
    const { value, done } = from.next();
    if (done) return;
    yield value;
  }
}

function changed(random: Random, count: number): Kept {
  const kept = new Kept(rootOf(Thing));
  for (let i = 0; i < count; i++) kept.change<Thing>((thing) => changeSomething(thing, random));
  return kept;
}

test("a state that comes in pieces while it changes is the present one in the end, and can be changed", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const kept = changed(random, 30);
    const coming = new Coming(Thing, seed % 2 === 0 ? 1 : undefined);
    let sent = kept.present;
    const base = copiedWrites(kept.slot, sent);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 6; i++) {
        if (round === 0) coming.take(some(base, random.int(8)));
        kept.change<Thing>((thing) => changeSomething(thing, random));
      }
      if (round === 0) coming.take(base);
      const difference: Write[] = [];
      stateWrites(kept.slot, sent, kept.present, difference);
      sent = kept.present;
      coming.take(difference);
    }
    const there = coming.settle(kept);
    assertSame(there.slot, there.state, kept.present);
    for (let i = 0; i < 10; i++) there.change<Thing>((thing) => changeSomething(thing, random));
    const later = there.reload();
    assertSame(later.slot, later.state, there.present);
  }
});

test("the same when the journal gives it out, with what is appended meanwhile before and after", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const kept = changed(random, 30);
    const coming = new Coming(Thing);
    const base = [...storedWrites(kept.journal, kept.slot)].values();
    const since: Write[] = [];
    for (let i = 0; i < 10; i++) {
      coming.take(some(base, random.int(10)));
      since.push(...kept.change<Thing>((thing) => changeSomething(thing, random)));
    }
    coming.take(base);
    coming.take(since);
    const there = coming.settle(kept);
    assertSame(there.slot, there.state, kept.present);
    there.change<Thing>((thing) => changeSomething(thing, random));
    const later = there.reload();
    assertSame(later.slot, later.state, there.present);
  }
});

test("values that nobody has looked at go on as they came, and are changed as if somebody had", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const kept = changed(random, 30);
    const first = new Coming(Thing, 1);
    first.take(copiedWrites(kept.slot, kept.present));
    const there = first.settle(kept);
    const second = new Coming(Thing, 1);
    second.take(copiedWrites(there.slot, there.present));
    const further = second.settle(kept);
    for (let i = 0; i < 10; i++) {
      const luck = random.bits();
      kept.change<Thing>((thing) => changeSomething(thing, new Random(luck)));
      further.change<Thing>((thing) => changeSomething(thing, new Random(luck)));
    }
    assertSame(further.slot, further.state, kept.present);
  }
});

test("entries that nobody has looked at are in their order, however many came before them", () => {
  const kept = new Kept(rootOf(Thing));
  const numbers = [2, 127, 128, 129, 255, 256, 257, 65_535, 65_536, 65_537, 65_800];
  kept.change<Thing>(({ scores }) => {
    for (let i = 2; i <= 65_800; i++) scores.set(i, i);
    for (let i = 2; i <= 65_800; i++) if (!numbers.includes(i)) scores.delete(i);
  });
  const coming = new Coming(Thing, 1);
  coming.take(storedWrites(kept.journal, kept.slot)); // which has them in the order of their keys
  const there = coming.settle(kept);
  assert.deepEqual(
    [...(shown(there.slot, there.present).scores as Map<unknown, unknown>).keys()],
    ["first", ...numbers],
  );
});

test("a value that nobody has looked at is what it was if the same is put in its place", () => {
  const kept = new Kept(rootOf(Thing));
  const map = () => new Map([["day", new Date(7)]]);
  const text = "t".repeat(1000);
  kept.change<Thing>(({ scores, lines }) => {
    scores.set("map", map()).set("text", text);
    lines.push(text, map());
  });
  const coming = new Coming(Thing, 1);
  coming.take(copiedWrites(kept.slot, kept.present));
  const there = coming.settle(kept);
  const before = there.present;
  const again = there.change<Thing>(({ scores, lines }) => {
    scores.set("map", map()).set("text", text);
    lines.splice(0, 2, text, map());
  });
  assert.deepEqual(again, []);
  assert.equal(there.present, before);
  const seen = shown(there.slot, there.present);
  for (const each of seen.lines as unknown[]) if (each instanceof Map) each.clear();
  assertSame(there.slot, there.present, kept.present); // what was given out is nobody else's
});

test("0 and -0 are two values of a tracked collection", () => {
  const kept = new Kept(rootOf(Thing));
  kept.change<Thing>(({ scores, lines }) => {
    scores.set("zero", 0);
    lines.push(0);
  });
  const written = kept.change<Thing>(({ scores, lines }) => {
    scores.set("zero", -0);
    lines.splice(0, 1, -0);
  });
  assert.equal(written.length, 2);
  const { scores, lines } = shown(kept.slot, kept.present) as {
    scores: Map<string, number>;
    lines: number[];
  };
  assert.ok(Object.is(scores.get("zero"), -0) && Object.is(lines[0], -0));
});

/** Classes of one name, as a program has them from one run to the next. */
function named<C>(cls: C): C {
  Object.defineProperty(cls, "name", { value: "Account" });
  return cls;
}

const Older = named(
  class extends Context {
    tags = new Set(["a", "b".repeat(2000)]);
    limits = tracked.map<string, number>([
      ["day", 1],
      ["year", 2],
    ]);
    entries = tracked.list<number>([1, 2]);
  },
);
/** What was tracked is plain now, and the other way round. */
const Converted = named(
  class extends Context {
    tags = tracked.set<string>();
    limits = new Map<string, number>();
    entries = tracked.list<number>();
  },
);
const Newer = named(
  class extends Context {
    static version = 2;
    static upgrade({ limits, entries }: Record<string, unknown>) {
      return { tags: [], limits: new Set((limits as Map<string, number>).keys()), entries };
    }
    tags: string[] = [];
    limits = tracked.set<string>();
    entries = tracked.list<number>();
  },
);

for (const [how, cls] of [
  ["whose fields are tracked or not as they were not before", Converted],
  ["of a newer class", Newer],
] as const) {
  test(`a state ${how} comes as an older run has written it, and as it is written then`, () => {
    for (const isWrittenMeanwhile of [false, true]) {
      const older = new Kept(rootOf(Older));
      older.write(older.present);
      const kept = older.reload(cls);
      const coming = new Coming(cls);
      coming.take([...storedWrites(kept.journal, kept.slot)]);
      if (isWrittenMeanwhile)
        coming.take(kept.change<InstanceType<typeof cls>>(({ entries }) => entries.push(3)));
      const there = coming.settle(kept);
      assertSame(there.slot, there.state, kept.present);
      there.change<InstanceType<typeof cls>>(({ entries }) => entries.push(4));
      const later = there.reload();
      assertSame(later.slot, later.state, there.present);
      const expected = new Kept(rootOf(cls));
      expected.write(there.present);
      assert.deepEqual(later.keys, expected.keys, "nothing of the older run is left");
      assert.deepEqual(
        shown(later.slot, later.present).entries,
        isWrittenMeanwhile ? [1, 2, 3, 4] : [1, 2, 4],
      );
    }
  });
}

test("pieces have the writes of several contexts, which begin where they are said to", () => {
  const writes: [number, boolean, Write][] = [
    [1, true, { key: "c/T/T", value: new Uint8Array([1]) }],
    [1, false, { key: "d/T/T\0f\0s", value: new Uint8Array(0) }],
    [1, false, { key: "d/T/T\0f\0sé\0x", value: null }],
    [2, true, { key: "d/T/T\0f\0", value: new Uint8Array(5000).fill(7) }],
    [2, true, { key: "c/T/U", value: new Uint8Array([3]) }],
    [1, false, { key: "d/T/T\0g\0n1", value: new Uint8Array([4]) }],
  ];
  const paths = [[], [{ field: "a", key: "\ud800" }], [{ field: "b", key: 5 }]];
  const piece = new PieceWriter(10);
  for (const [path, isFirst, write] of writes) piece.add(paths[path] ?? [], isFirst, write);
  const found = [...writesIn(piece.end())].map(({ value, ...rest }) => ({
    ...rest,
    value: value === null ? null : [...value],
  }));
  assert.deepEqual(
    found,
    writes.map(([path, isFirst, { key, value }]) => ({
      path: paths[path],
      isFirst,
      key,
      value: value === null ? null : [...value],
    })),
  );
});
