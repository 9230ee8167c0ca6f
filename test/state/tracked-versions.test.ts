import assert from "node:assert/strict";
import { test } from "node:test";
import { Context } from "headwater";
import { Random } from "#src/random.js";
import { changesBetween, entriesOf, isSameContent, versionFrom } from "#src/state/tracked-content.js";
import { LiveList } from "#src/state/tracked-list.js";
import type { Live } from "#src/state/tracked-live.js";
import { LiveMap, LiveSet } from "#src/state/tracked-map.js";
import { toRoot, type Version } from "#src/state/tracked-version.js";
import { Place } from "../place.js";

/** Tracked collections beside the plain ones that they stand for, through thousands of random histories. */

class Root extends Context {}
const place = Place.root(Root);

interface Kind<P> {
  make(): Live;
  plain(): P;
  copy(plain: P): P;
  /** Does the same to both. */
  change(random: Random, live: Live, plain: P): void;
  items(plain: P): unknown[];
}

const map: Kind<Map<number, unknown>> = {
  make: () => new LiveMap([]),
  plain: () => new Map(),
  copy: (plain) => new Map(plain),
  change(random, live, plain) {
    const tracked = live as LiveMap;
    const key = random.int(8);
    const chance = random.int(20);
    if (chance === 0) {
      tracked.clear();
      plain.clear();
    } else if (chance < 8) {
      assert.equal(tracked.delete(key), plain.delete(key));
    } else {
      const value = random.chance(0.2) ? { n: random.int(3) } : random.int(3);
      tracked.set(key, value);
      plain.set(key, value);
    }
    const asked = random.int(8);
    assert.deepEqual(tracked.get(asked), plain.get(asked));
    assert.equal(tracked.has(asked), plain.has(asked));
  },
  items: (plain) => [...plain],
};

const set: Kind<Set<number>> = {
  make: () => new LiveSet([]),
  plain: () => new Set(),
  copy: (plain) => new Set(plain),
  change(random, live, plain) {
    const tracked = live as LiveSet;
    const item = random.int(8);
    if (random.chance(0.4)) assert.equal(tracked.delete(item), plain.delete(item));
    else {
      tracked.add(item);
      plain.add(item);
    }
    assert.equal(tracked.has(item), plain.has(item));
  },
  items: (plain) => [...plain],
};

const list: Kind<number[]> = {
  make: () => new LiveList([]),
  plain: () => [],
  copy: (plain) => [...plain],
  change(random, live, plain) {
    const tracked = live as LiveList;
    const value = random.int(3);
    switch (random.int(7)) {
      case 0:
        return assert.equal(tracked.push(value, value), plain.push(value, value));
      case 1:
        return assert.equal(tracked.unshift(value, 7), plain.unshift(value, 7));
      case 2:
        return assert.equal(tracked.pop(), plain.pop());
      case 3:
        return assert.equal(tracked.shift(), plain.shift());
      case 4: {
        if (plain.length === 0) return;
        const at = random.int(plain.length);
        tracked.set(at, value);
        plain[at] = value;
        return;
      }
      default: {
        const from = random.int(plain.length + 3) - 1;
        const gone = random.int(4);
        const more = Array.from({ length: random.int(4) }, () => random.int(3));
        assert.deepEqual(tracked.splice(from, gone, ...more), plain.splice(from, gone, ...more));
      }
    }
  },
  items: (plain) => [...plain],
};

function over(make: () => Live, version: Version): Live {
  const live = make();
  live.attach(version, live, place, "field");
  return live;
}

function itemsOf(live: Live): unknown[] {
  return [...(live as unknown as Iterable<unknown>)];
}

/** Both ways of reading: one by one, and all of it. */
function check<P>(kind: Kind<P>, version: Version, plain: P): void {
  const live = over(kind.make, version);
  assert.deepEqual(itemsOf(live), kind.items(plain));
  const { size, length } = live as unknown as { size?: number; length?: number };
  assert.equal(size ?? length, kind.items(plain).length);
  if (live instanceof LiveMap)
    for (const [key, value] of plain as Map<number, unknown>) assert.deepEqual(live.get(key), value);
  if (live instanceof LiveList)
    for (const [i, item] of (plain as number[]).entries()) assert.equal(live.at(i), item);
}

/** What a journal would do: keep entries by key, write the changes, load them again. */
function checkChanges(kind: Live["kind"], older: Version, newer: Version): void {
  const stored = new Map([...entriesOf(older)].map((entry) => [entry.key, entry]));
  const { isWhole, changes } = changesBetween(older, newer);
  if (isWhole) stored.clear();
  for (const { deleted, ...entry } of changes) {
    if (deleted) stored.delete(entry.key);
    else stored.set(entry.key, entry);
  }
  const loaded = versionFrom(kind, stored.values());
  assert.deepEqual([...entriesOf(loaded)], [...entriesOf(newer)]);
  assert.ok(isSameContent(loaded, newer));
}

function history<P>(kind: Kind<P>, seed: number): void {
  const random = new Random(seed);
  const first = kind.make().freeze();
  const known: { version: Version; plain: P }[] = [{ version: first, plain: kind.plain() }];
  const working: { live: Live; from: Version; plain: P }[] = [];
  for (let turn = 0; turn < 60; turn++) {
    if (working.length === 0 || (working.length < 3 && random.chance(0.3))) {
      // Mostly the newest, as in a program that seldom fails.
      const { version, plain } = random.chance(0.7)
        ? (known.at(-1) as (typeof known)[0])
        : random.pick(known);
      working.push({ live: over(kind.make, version), from: version, plain: kind.copy(plain) });
    }
    const at = random.int(working.length);
    const { live, plain, from } = working[at] as (typeof working)[0];
    for (let changes = random.int(4); changes > 0; changes--) kind.change(random, live, plain);
    assert.deepEqual(itemsOf(live), kind.items(plain));
    if (random.chance(0.2))
      working.splice(at, 1); // a method that fails
    else if (random.chance(0.5)) {
      const version = live.freeze();
      const before = known.find((each) => each.version === from)?.plain as P;
      const isSame = JSON.stringify(kind.items(before)) === JSON.stringify(kind.items(plain));
      if (isSame && live.kind !== "list") assert.ok(isSameContent(from, version));
      if (!isSame) assert.notEqual(version, from);
      checkChanges(live.kind, from, version);
      known.push({ version, plain: kind.copy(plain) });
    }
    if (random.chance(0.2)) {
      const { version, plain: then } = random.pick(known);
      check(kind, version, then);
    }
    if (random.chance(0.1)) toRoot(random.pick(known).version);
  }
  for (const { version, plain } of known) check(kind, version, plain);
  for (const { live, plain } of working) assert.deepEqual(itemsOf(live), kind.items(plain));
  for (let i = 0; i < 5; i++) {
    const older = random.pick(known).version;
    checkChanges(older.kind, older, random.pick(known).version);
  }
}

for (const [name, kind] of Object.entries({ map, set, list })) {
  test(`a tracked ${name} is a ${name} in every version that it has had, whatever was tried and undone`, () => {
    for (let seed = 1; seed <= 800; seed++) {
      try {
        history(kind as Kind<unknown>, seed);
      } catch (error) {
        if (error instanceof Error) error.message = `seed ${seed}: ${error.message}`;
        throw error;
      }
    }
  });
}
