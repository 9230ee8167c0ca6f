import assert from "node:assert/strict";
import { test } from "node:test";
import { compareKeys } from "#src/journal/keys.js";
import { SortedMap } from "#src/journal/sorted-map.js";
import { SortedRuns } from "#src/journal/table/runs.js";
import { Random } from "#src/random.js";

test("keys compare as their UTF-8 bytes do", () => {
  const random = new Random(7);
  const letters = ["a", "b", "\u0000", "é", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"];
  const word = () => Array.from({ length: random.int(4) }, () => random.pick(letters)).join("");
  for (let i = 0; i < 2000; i++) {
    const [a, b] = [word(), word()];
    assert.equal(
      Math.sign(compareKeys(a, b)),
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
      `${a} and ${b}`,
    );
  }
});

/** Of keys with a kind (`a/…`) and others, which come before and behind them. */
const STARTS = ["a", "b", "a/", "b/", "a\u0000", "a😀", "😀", "\uffff", "\uffff/"];

test("a table stays in order while keys come and go, whether or not the order is asked for", () => {
  const random = new Random(11);
  const table = new SortedMap<number>();
  const model = new Map<string, number>();
  for (let i = 0; i < 30_000; i++) {
    const key = `${random.pick(STARTS)}${random.int(i < 15_000 ? 150 : 2500)}`;
    if (random.chance(0.4)) {
      table.delete(key);
      model.delete(key);
    } else {
      table.set(key, i);
      model.set(key, i);
    }
    assert.equal(table.size, model.size);
    // Long stretches without a look let many stale keys gather.
    if (i % 9000 < 4500 || !random.chance(0.02)) continue;
    const prefix = random.pick(["", "a", "a/", "b1", "b/1", "😀", "\uffff", "\uffff/"]);
    const expected = [...model].filter(([each]) => each.startsWith(prefix));
    expected.sort(([x], [y]) => compareKeys(x, y));
    assert.deepEqual(table.from(prefix), expected);
    const at = random.int(expected.length + 1);
    const [after = ""] = expected[at - 1] ?? [];
    assert.deepEqual(table.from(prefix, after), expected.slice(at));
  }
});

test("who looks for keys of one kind does not bring those of another into order", () => {
  const table = new SortedMap<number>();
  for (let i = 0; i < 200_000; i++) table.set(`c/${(i * 7919) % 200_000}`, i);
  for (let i = 0; i < 100; i++) table.set(`w/${i}`, i);
  const cpuOf = (look: () => unknown[], count: number) => {
    const before = process.cpuUsage();
    assert.equal(look().length, count);
    return process.cpuUsage(before).user;
  };
  const ofOne = cpuOf(() => table.from("w/"), 100);
  const ofAll = cpuOf(() => table.from("c/"), 200_000);
  assert.ok(ofOne * 10 < ofAll, `${ofOne} µs for 100 keys, ${ofAll} µs for 200,000`);
});

test("runs give all keys in order, however many there are", () => {
  const random = new Random(3);
  for (const count of [0, 1, 7, 8, 9, 100]) {
    const keys = Array.from({ length: count }, (_, i) => `k${random.int(1000)}-${i}`);
    const runs = new SortedRuns([...keys], 8);
    while (runs.prepare());
    const taken: string[] = [];
    for (let key = runs.take(); key !== undefined; key = runs.take()) taken.push(key);
    assert.deepEqual(taken, keys.toSorted());
  }
});
