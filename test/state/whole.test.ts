import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, HeadwaterError } from "headwater";
import { Random } from "#src/random.js";
import { initialState, instantiate, refill, stateOf } from "#src/state/fields.js";
import { isStillSame } from "#src/state/same.js";
import { copy, copyKept, copyToKeep, register } from "#src/state/values.js";
import { Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

/** A copy is all that there is to a value, or the value is refused. */

class Point {
  constructor(
    readonly x: number,
    readonly y: unknown = null,
  ) {}
}
register(Point);

const MARK = Symbol("mark");
const at = () => "value";
const hidden = (of: object, name: PropertyKey = "secret") => Object.defineProperty(of, name, { value: 1 });

test("what has more than a copy would have is refused with its path, kept or passed", () => {
  const cases: [value: unknown, ...parts: string[]][] = [
    [{ found: "abc".match(/b/) }, "value.found", "the result of a match", "`[...match]`"],
    [[[..."abab".matchAll(/b/g)]], "value[0][0]", "the result of a match"],
    [{ a: [{ [MARK]: 1 }] }, "value.a[0]", "an object", "Symbol(mark)"],
    [{ a: hidden({ b: 1 }, MARK) }, "value.a", "an object", "Symbol(mark)"],
    [[hidden({ b: 1 })], "value[0]", "an object with a hidden field", '"secret"'],
    [new Map([["k", Object.assign([1], { [MARK]: 1 })]]), 'value.get("k")', "an array", "Symbol(mark)"],
    [Object.assign(new Map(), { owner: "ada" }), "value", "a Map with a field of its own", '"owner"'],
    [{ s: hidden(new Set()) }, "value.s", "a Set with a field of its own", '"secret"'],
    [[Object.assign(new Point(1), { [MARK]: 1 })], "value[0]", "an instance of Point", "Symbol(mark)"],
    [hidden(new Point(1)), "value", "an instance of Point with a hidden field", '"secret"'],
    [new Point(1, new Point(2, { [MARK]: 1 })), "value.y.y", "Symbol(mark)"],
    [Object.assign(new Error("x"), { more: { [MARK]: 1 } }), "value.more", "Symbol(mark)"],
  ];
  for (const [value, ...parts] of cases) {
    refusedAtOnce(() => copyToKeep(value, at), "HW-1006", ...parts);
    refusedAtOnce(() => copy(value, at), "HW-1006", ...parts);
  }
});

test("what is to be kept is looked at more closely: names of arrays, getters, fields of Dates", () => {
  const getter = {
    list: [1, 2],
    get total() {
      return this.list.length;
    },
  };
  const cases: [value: unknown, ...parts: string[]][] = [
    [{ rows: Object.assign([1, 2], { count: 2 }) }, "value.rows", "an array with a field", '"count"'],
    [Object.assign([], { count: 0 }), "value", "an array", '"count"'],
    [Object.assign(new Array(3), { "03": 0 }), "value", "an array", '"03"'],
    [[getter], "value[0]", "an object with a getter", '"total"'],
    [[{ set level(_: number) {} }], "value[0]", "a getter or setter", '"level"'],
    [Object.assign(new Date(5), { zone: "UTC" }), "value", "a Date with a field", '"zone"'],
  ];
  for (const [value, ...parts] of cases) refusedAtOnce(() => copyToKeep(value, at), "HW-1006", ...parts);
  assert.deepEqual(copy(getter, at), { list: [1, 2], total: 2 });
  assert.equal(Object.getOwnPropertyDescriptor(copy(getter, at), "total")?.get, undefined);
});

test("holes of an array become undefined, everywhere", () => {
  const holes = new Array<number>(3);
  holes[1] = 5;
  for (const copied of [copy(holes, at), copyToKeep(holes, at), copyKept(holes)] as number[][]) {
    assert.deepEqual(Object.keys(copied), ["0", "1", "2"]);
    assert.deepEqual(copied, [undefined, 5, undefined]);
  }
});

test("a live value with more than its copy is not the same as the copy", () => {
  const values = [{ a: 1 }, [1, 2], new Map([[1, 2]]), new Set([1]), new Point(1)];
  for (const make of [
    (value: object) => hidden(value, MARK),
    (value: object) => Object.assign(value, { [MARK]: 1 }),
  ]) {
    for (const value of values) {
      const [live, kept] = [make(copy(value, at)), copy(value, at)];
      assert.ok(isStillSame(value, kept));
      assert.ok(!isStillSame(live, kept));
      assert.ok(!isStillSame([{ deep: live }], [{ deep: kept }]));
    }
  }
  assert.ok(!isStillSame(hidden({ a: 1 }), { a: 1 }));
  assert.ok(!isStillSame(hidden(new Map()), new Map()));
  assert.ok(!isStillSame(Object.assign(new Date(5), { zone: "UTC" }), new Date(5)));
});

class Shelf extends Context {
  record: Record<PropertyKey, unknown> = { n: 1, list: [1, 2] };
  list: unknown[] = [{ a: 1 }];
  map = new Map<string, unknown>([["k", { a: 1 }]]);
  count = 5;
}
const place = Place.root(Shelf);

test("an event that changes nothing but what a copy would lose is refused, too", () => {
  const changes: [change: (shelf: Shelf) => unknown, ...parts: string[]][] = [
    [({ record }) => (record[MARK] = 1), "Shelf.record", "Symbol(mark)"],
    [({ record }) => hidden(record), "Shelf.record", '"secret"'],
    [({ list }) => hidden(list[0] as object, MARK), "Shelf.list[0]", "Symbol(mark)"],
    [({ map }) => hidden(map), "Shelf.map", '"secret"'],
    [(shelf) => (shelf.list = "abc".match(/b/) ?? []), "Shelf.list", "the result of a match"],
  ];
  const state = initialState(place);
  for (const [change, ...parts] of changes) {
    const shelf = instantiate(place, state) as Shelf;
    change(shelf);
    refusedAtOnce(() => stateOf(shelf, place, state, null), "HW-1006", ...parts);
  }
});

test("an instance that is used again is as if it had been made from the state, whatever an event has left there", () => {
  const record = { n: 1, list: [1, 2] };
  const leave: ((shelf: Shelf) => unknown)[] = [
    (shelf) => Object.freeze(shelf.record),
    (shelf) => Object.seal(shelf.list),
    (shelf) => Object.preventExtensions(shelf.map.get("k")),
    (shelf) => Object.defineProperty(shelf.record, "n", { writable: false }),
    (shelf) => Object.defineProperty(shelf.record, "n", { get: () => 1 }),
    (shelf) => Object.assign(shelf.list, { note: 1 }),
    (shelf) => (shelf.record = new Proxy(record, {})),
    (shelf) => (shelf.record = Object.assign(Object.create(null), record)),
    (shelf) => (shelf.list = [shelf.map.get("k")]),
    (shelf) => (shelf.count = 7),
    (shelf) => Object.freeze(shelf),
  ];
  const state = initialState(place);
  for (const change of leave) {
    const used = instantiate(place, state) as Shelf;
    change(used);
    const next = refill(used, place, state) ? used : (instantiate(place, state) as Shelf);
    assertAlike({ ...next }, { ...(instantiate(place, state) as Shelf) });
    assert.notEqual(next.list[0], next.map.get("k"));
    next.count += 1;
    next.record.n = 2;
    next.record.more = next.list.push(1);
  }
});

test("a random value is copied with all that it is, or refused", () => {
  const random = new Random(11);
  const counts = { copied: 0, refused: 0 };
  for (let i = 0; i < 6000; i++) {
    const odd = { has: false };
    const value = draw(random, 0, odd);
    try {
      const kept = copyToKeep(value, at);
      assertAlike(kept, value);
      assertAlike(copyKept(kept), value);
      assertAlike(copy(value, at), value);
      assert.ok(isStillSame(value, kept));
      assert.ok(!odd.has, "what is odd is refused");
      counts.copied += 1;
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      assert.equal(error.code, "HW-1006");
      assert.ok(odd.has, `what is not odd is copied: ${error.message}`);
      counts.refused += 1;
    }
  }
  assert.ok(counts.copied > 1000 && counts.refused > 500, JSON.stringify(counts));
});

/** Plain data, in which now and then something has more than it may have. */
function draw(random: Random, depth: number, odd: { has: boolean }): unknown {
  const below = () => draw(random, depth + 1, odd);
  const several = <T>(one: (i: number) => T): T[] => Array.from({ length: random.int(4) }, (_, i) => one(i));
  const name = (i: number) =>
    random.pick([["a", "7"], ["length", "index"], ["constructor", ""], ["b"]][i] ?? []);
  const made = ((): unknown => {
    switch (random.int(depth > 3 ? 5 : 10)) {
      case 0:
        return random.pick([0, -0, Number.NaN, 1.5, "", "text", null, undefined, true, 12n]);
      case 1:
        return new Date(random.int(1000));
      case 2:
        return Buffer.from(several(() => random.int(256)));
      case 3:
        return random.pick([new Uint8Array([1, 2]), new Float64Array(2), new DataView(new ArrayBuffer(3))]);
      case 4:
        return new ArrayBuffer(random.int(4));
      case 5:
        return several(below);
      case 6:
        return new Map(several((i) => [random.chance(0.5) ? i : [below()], below()]));
      case 7:
        return new Set(several(below));
      case 8:
        return new Point(random.int(5), below());
      default:
        return Object.fromEntries(several((i) => [name(i), below()]));
    }
  })();
  if (typeof made !== "object" || made === null || ArrayBuffer.isView(made) || !random.chance(0.06))
    return made;
  odd.has = true;
  const isArray = Array.isArray(made);
  const key = random.pick<PropertyKey>(isArray ? [MARK, "more", "index"] : [MARK, "more"]);
  if (random.chance(0.5) && !isArray) return Object.defineProperty(made, key, { value: below() });
  if (random.chance(0.5) && !isArray && Object.getPrototypeOf(made) === Object.prototype)
    return Object.defineProperty(made, key, { get: () => 1, enumerable: true, configurable: true });
  const isField = key !== MARK && (made instanceof Point || Object.getPrototypeOf(made) === Object.prototype);
  return Object.assign(made, { [isField ? MARK : key]: 1 });
}

/** Nothing that a program could ask tells them from each other, but that they are two. */
function assertAlike(a: unknown, b: unknown): void {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null)
    return assert.ok(Object.is(a, b));
  assert.equal(Object.getPrototypeOf(a), Object.getPrototypeOf(b));
  assert.equal(Object.isExtensible(a), Object.isExtensible(b));
  assert.deepEqual(Reflect.ownKeys(a), Reflect.ownKeys(b));
  for (const key of Reflect.ownKeys(a)) {
    const { value, ...rest } = Object.getOwnPropertyDescriptor(a, key) ?? {};
    const { value: other, ...others } = Object.getOwnPropertyDescriptor(b, key) ?? {};
    assert.deepEqual(rest, others);
    assertAlike(value, other);
  }
  if (a instanceof Date) assert.equal(a.getTime(), (b as Date).getTime());
  if (a instanceof Map || a instanceof Set) assertAlike([...a], [...(b as Set<unknown>)]);
  if (a instanceof DataView) assertAlike(a.buffer, b instanceof DataView ? b.buffer : null);
  if (a instanceof ArrayBuffer) assertAlike(new Uint8Array(a), new Uint8Array(b as ArrayBuffer));
}
