import assert from "node:assert/strict";
import { test } from "node:test";
import { same } from "#src/state/same.js";
import { copy, register } from "#src/state/values.js";

class Coin {
  constructor(readonly worth: number) {}
}
register(Coin);

const samples: unknown[] = [
  0,
  -0,
  Number.NaN,
  "",
  "a",
  true,
  null,
  undefined,
  5n,
  [],
  [1],
  [undefined],
  [[1], 2],
  {},
  { a: 1 },
  { a: 1, b: 2 },
  { b: 2, a: 1 },
  { a: undefined },
  new Map(),
  new Map([["a", 1]]),
  new Map([["a", 2]]),
  new Map([[1, "a"], [2, "b"]]), // biome-ignore format: short
  new Map([[2, "b"], [1, "a"]]), // biome-ignore format: short
  new Set(),
  new Set(["a"]),
  new Set([["a", 1]]),
  new Date(1),
  new Date(Number.NaN),
  new Uint8Array([1]),
  new Uint8Array([2]),
  new Int8Array([1]),
  new Float64Array(1),
  new Uint8Array(8),
  new Uint8Array([1]).buffer,
  new DataView(new Uint8Array([1]).buffer),
  new Error("a"),
  new Error("b"),
  new TypeError("a"),
  Object.assign(new Error("a"), { code: 1 }),
  Object.defineProperty(new Error("a"), "name", { value: "Other" }),
  new Error("a", { cause: 1 }),
  new Coin(1),
  new Coin(2),
  { worth: 1 },
];

test("a value is the same as its copy and different from every other value", () => {
  for (const [i, live] of samples.entries()) {
    for (const [j, other] of samples.entries()) {
      const kept = copy(other, () => "x");
      assert.equal(same(live, kept), i === j, `sample ${i} against the copy of sample ${j}`);
    }
  }
});

test("a Buffer is the same as its copy, and not as other views of the same bytes", () => {
  const buffer = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]);
  assert.ok(
    same(
      buffer,
      copy(buffer, () => "x"),
    ),
  );
  assert.ok(!same(buffer, new Float64Array(new Uint8Array(buffer).buffer)));
  assert.ok(!same(buffer, new Uint8Array(buffer)));
  assert.ok(!same(buffer, Buffer.from([1, 2, 3, 4, 5, 6, 7, 9])));
});

test("what cannot be copied is never the same as anything kept", () => {
  class Bag extends Map<string, number> {}
  class Row extends Array<number> {}
  const f = () => 1;
  assert.ok(!same(new Bag(), new Map()));
  assert.ok(!same(new Row(), []));
  assert.ok(!same({ f }, {}));
  assert.ok(!same(new (class Empty {})(), {}));
  const ring: unknown[] = [];
  ring.push(ring);
  assert.ok(!same(ring, [[[]]]));
});
