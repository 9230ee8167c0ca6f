import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Key } from "headwater";
import { keyFrom, mapKey, showKey } from "#src/model/key.js";
import { Calls, Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

class Item extends Context<Key> {
  touch() {}
}
class Shelf extends Context {
  items = this.children(Item);
}
const place = Place.root(Shelf);
const items = new Calls().root<Shelf>(place).items as unknown as (...key: unknown[]) => object;

test("numbers and strings stay apart, and so do tuples with different parts", () => {
  const keys: Key[] = [1, "1", "", "0", 0, [1, 2], ["1", 2], [1, "2"], [2, 1], "1,2", "[1,2]", 1.5, -1];
  assert.equal(new Set(keys.map(mapKey)).size, keys.length);
});

test("no text is the name of a tuple, and no tuple that of another one", () => {
  const parts = ["", "\u0000", "1", "1 a", "a\u0000", 1, 11, -1, 1e21];
  const tuples = parts.flatMap((a) =>
    parts.flatMap((b): Key[] => [[a, b], ...parts.map((c): Key => [a, b, c])]),
  );
  const names = new Set(tuples.map(mapKey));
  assert.equal(names.size, tuples.length);
  for (const name of names) assert.ok(!names.has(mapKey(name)));
});

test("zero has one name", () => {
  assert.ok(Object.is(keyFrom([-0], "items"), 0));
  assert.deepEqual(keyFrom([1, -0], "items"), [1, 0]);
  assert.equal(String(items(-0)), "Shelf.items(0)");
});

test("a key of several parts is one key", () => {
  assert.deepEqual(keyFrom([3, "a"], "items"), [3, "a"]);
  assert.equal(showKey([3, "a"]), '3, "a"');
  assert.equal(showKey("a"), '"a"');
});

test("what cannot name a context is refused, with the field and the key", () => {
  const long = "x".repeat(1025);
  const bad: [key: unknown[], shown: string][] = [
    [[], "items()"],
    [[undefined], "items(undefined)"],
    [[null], "items(null)"],
    [[Number.NaN], "items(NaN)"],
    [[Number.POSITIVE_INFINITY], "items(Infinity)"],
    [[true], "items(true)"],
    [[{}], "items([object Object])"],
    [[[1, 2]], "items(1,2)"],
    [[1, undefined], "items(1, undefined)"],
    [[Symbol("s")], "items(Symbol(s))"],
    [[long], "1024"],
  ];
  for (const [key, shown] of bad) refusedAtOnce(() => items(...key), "HW-1015", shown);
  assert.equal(String(items("x".repeat(1024))).length, "Shelf.items()".length + 1026);
});
