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

test("a table stays in order while keys come and go, whether or not the order is asked for", () => {
  const random = new Random(11);
  const table = new SortedMap<number>();
  const model = new Map<string, number>();
  for (let i = 0; i < 30_000; i++) {
    const key = `${random.pick(["a", "b", "😀", "\uffff"])}${random.int(i < 15_000 ? 300 : 5000)}`;
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
    const prefix = random.pick(["", "a", "b1", "😀", "\uffff"]);
    const expected = [...model].filter(([each]) => each.startsWith(prefix));
    assert.deepEqual(
      table.from(prefix),
      expected.sort(([x], [y]) => compareKeys(x, y)),
    );
  }
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
