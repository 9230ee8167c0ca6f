import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type HeadwaterError, type Key, owned } from "headwater";
import { Staged } from "#src/host/context/staged-state.js";
import { copiedWrites, stateWrites } from "#src/host/context/stored-state.js";
import type { Write } from "#src/journal/journal.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { Random } from "#src/random.js";
import { instantiate, type State, stateOf } from "#src/state/fields.js";
import { type Tallied, Tally } from "../state/tally.js";
import { Kept, rootOf } from "./kept.js";

class Book extends Context<Key> {
  count = 0;
  tally = owned(() => new Tally(), { checkpointBytes: 2000 });
}

function tallied(kept: Kept): Tallied {
  const book = instantiate(kept.slot, kept.present) as unknown as Book;
  return book.tally.read((tally) => tally.tallied);
}

function record(random: Random): Uint8Array {
  return Tally.record(`key ${random.int(6)}`, random.int(5) - 2);
}

test("an engine is what its records make of it, whatever was rolled back, loaded and checkpointed between them", () => {
  const SEEDS = 60;
  let [checkpoints, rollbacks] = [0, 0];
  for (let seed = 0; seed < SEEDS; seed++) {
    const random = new Random(seed);
    let kept = new Kept(rootOf(Book));
    let records: Uint8Array[] = [];
    for (let step = 0; step < 60; step++) {
      const added = Array.from({ length: random.int(4) }, () => record(random));
      const before = kept.present;
      const instance = instantiate(kept.slot, before) as unknown as Book;
      let state: State = before;
      for (const each of added) {
        instance.tally.apply(each);
        // What a call below would see: the version in between is frozen.
        if (random.chance(0.3)) state = stateOf(instance, kept.slot, state, null);
      }
      if (random.chance(0.3)) {
        rollbacks += 1; // nobody hears of it any more
      } else {
        state = stateOf(instance, kept.slot, state, null);
        if (state !== before) kept.write(state);
        records = [...records, ...added];
      }
      checkpoints += kept.writes.some(({ key }) => key.endsWith("\0k")) ? 1 : 0;
      if (random.chance(0.2)) kept = kept.reload();
      if (random.chance(0.5))
        assert.deepEqual(tallied(kept), Tally.of(records), `seed ${seed}, step ${step}`);
      const book = instantiate(kept.slot, kept.present) as unknown as Book;
      assert.equal(book.tally.position, records.length, `seed ${seed}, step ${step}`);
    }
    assert.deepEqual(tallied(kept.reload()), Tally.of(records), `seed ${seed}`);
  }
  assert.ok(checkpoints > SEEDS && rollbacks > SEEDS, `${checkpoints} checkpoints, ${rollbacks} rollbacks`);
});

test("a checkpoint leaves neither its records nor parts that it has deleted in the journal", () => {
  const kept = new Kept(rootOf(Book));
  const apply = (key: string, add: number) =>
    kept.change<Book>(({ tally }) => tally.apply(Tally.record(key, add)));
  apply("gone", 1);
  for (let i = 0; i < 20; i++) apply("a", 1);
  assert.ok(kept.keys.some((key) => key.endsWith("\0psum gone")));
  apply("gone", -1);
  for (let i = 0; i < 20; i++) apply("a", 1);
  assert.ok(!kept.keys.some((key) => key.endsWith("\0psum gone")));
  const positions = kept.keys.filter((key) => /\0r\d+$/.test(key)).map((key) => Number(key.slice(-16)));
  assert.ok(positions.length < 12 && positions.at(-1) === 42);
  assert.deepEqual(tallied(kept.reload()).sums, { a: 40 });
});

test("every record is in what its event writes, also if there is a checkpoint, so that a copy elsewhere can follow", () => {
  const kept = new Kept(rootOf(Book));
  let checkpoints = 0;
  for (let position = 1; position <= 60; position++) {
    const writes = kept.change<Book>(({ tally }) => tally.apply(Tally.record(`k${position % 7}`, 1)));
    const records = writes.filter(({ key, value }) => /\0r\d+$/.test(key) && value !== null);
    assert.deepEqual(
      records.map(({ key }) => Number(key.slice(-16))),
      [position],
    );
    checkpoints += writes.some(({ key }) => key.endsWith("\0k")) ? 1 : 0;
  }
  assert.ok(checkpoints > 1);
});

test("a record costs its own bytes in the journal, and is not copied", () => {
  const kept = new Kept(rootOf(Book));
  kept.change<Book>((book) => book.tally.apply(Tally.record("a", 1)));
  const record = Buffer.concat([Tally.record("a", 1), Buffer.alloc(500, " ")]);
  const writes = kept.change<Book>((book) => book.tally.apply(record));
  assert.equal(writes.length, 1);
  assert.equal(writes[0]?.value, record);
});

test("events go on with the engine that is there; a rollback, and only that, builds it again", () => {
  const kept = new Kept(rootOf(Book));
  kept.change<Book>((book) => book.tally.apply(Tally.record("a", 1)));
  const { made } = Tally;
  for (let i = 0; i < 200; i++) kept.change<Book>((book) => book.tally.apply(Tally.record("a", 1)));
  assert.equal(tallied(kept).sums.a, 201);
  assert.equal(Tally.made, made);
  (instantiate(kept.slot, kept.present) as unknown as Book).tally.apply(Tally.record("a", 1000));
  assert.equal(tallied(kept).sums.a, 201);
  assert.equal(Tally.made, made + 1);
});

test("what is copied while events go on, and the differences since, make the same engine on another host", () => {
  for (let seed = 0; seed < 30; seed++) {
    const random = new Random(seed);
    const kept = new Kept(rootOf(Book));
    const records: Uint8Array[] = [];
    const go = (events: number) => {
      for (let i = 0; i < events; i++) {
        const each = record(random);
        records.push(each);
        kept.change<Book>((book) => book.tally.apply(each));
      }
    };
    go(1 + random.int(40));
    const there = rootOf(Book);
    const staged = new Staged(there, 0);
    let sent = kept.present;
    for (const write of copiedWrites(kept.slot, sent)) {
      staged.put({ ...write, value: write.value === null ? null : write.value.slice() });
      if (random.chance(0.2)) go(random.int(3));
    }
    for (let round = 0; round < 3; round++) {
      const changes: Write[] = [];
      stateWrites(kept.slot, sent, kept.present, changes);
      sent = kept.present;
      for (const write of changes) staged.put(write);
      if (round < 2) go(random.int(12));
    }
    const moved = new Kept(there);
    moved.state = staged.state();
    assert.deepEqual(tallied(moved), Tally.of(records), `seed ${seed}`);
    moved.journal.append([...copiedWrites(there, moved.present)], () => {});
    assert.deepEqual(tallied(moved.reload()), Tally.of(records), `seed ${seed}`);
  }
});

test("records with a gap between them, or without their checkpoint, are not read", () => {
  for (const lost of [/\0r0*3$/, /\0k$/]) {
    const kept = new Kept(rootOf(Book));
    for (let i = 0; i < (lost.source.endsWith("k$") ? 12 : 5); i++)
      kept.change<Book>((book) => book.tally.apply(Tally.record("a", 1)));
    const key = kept.keys.find((each) => lost.test(each));
    assert.ok(key !== undefined);
    kept.journal.append([{ key, value: null }], () => {});
    assert.throws(
      () => kept.reload(),
      (error: HeadwaterError) => error.code === "HW-1107" && error.message.includes('"tally"'),
    );
  }
});

test("an upgrade passes an engine on under any name, and begins those anew of which it says nothing", () => {
  const kept = new Kept(rootOf(Book));
  for (let i = 0; i < 15; i++) kept.change<Book>((book) => book.tally.apply(Tally.record("a", 1)));
  const Renamed = class Book extends Context<Key> {
    static version = 2;
    static upgrade({ tally }: Record<string, unknown>) {
      return { renamed: tally };
    }
    renamed = owned(() => new Tally(), { checkpointBytes: 2000 });
    another = owned(() => new Tally());
  };
  const later = kept.reload(Renamed);
  const read = (each: Kept) => {
    const { renamed, another } = instantiate(each.slot, each.present) as unknown as InstanceType<
      typeof Renamed
    >;
    return [renamed.read((tally) => tally.tallied.sums), another.read((tally) => tally.tallied.sums)];
  };
  assert.deepEqual(read(later), [{ a: 15 }, {}]);
  later.change<InstanceType<typeof Renamed>>((book) => book.another.apply(Tally.record("b", 2)));
  assert.deepEqual(read(later.reload()), [{ a: 15 }, { b: 2 }]);
  assert.ok(!later.keys.some((key) => key.includes("\0tally\0")));
  const Plain = class Book extends Context<Key> {
    count = 0;
    tally = new Map();
  };
  assert.throws(() => kept.reload(Plain), { code: "HW-3021" });
});

test("a deleted context leaves nothing of its engine in the journal", () => {
  const journal = new MemoryJournal();
  const kept = new Kept(rootOf(Book), journal);
  for (let i = 0; i < 30; i++) kept.change<Book>((book) => book.tally.apply(Tally.record(`${i}`, 1)));
  const writes: Write[] = [];
  stateWrites(kept.slot, kept.present, new Kept(rootOf(Book)).slot.state, writes);
  journal.append(writes, () => {});
  assert.deepEqual(kept.keys, []);
});
