import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode } from "#src/state/codec.js";
import { ValueWriter } from "#src/state/codec-writer.js";

const edges = [0x20, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 2 ** 31, 2 ** 32, 2 ** 53];
const numbers = edges.flatMap((edge) => [edge - 1, edge, edge + 1, 1 - edge, -edge, -1 - edge]);
const texts = [0, 1, 31, 32, 40, 41, 255, 256, 16_384, 16_385, 70_000].flatMap((length) => [
  "x".repeat(length),
  "é".repeat(length),
]);
const others = [
  true,
  false,
  null,
  undefined,
  -0,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  5n,
  "\ud800",
  "\0",
];
const composed = [
  [],
  [null, 1],
  { a: [1] },
  new Map([[1, new Date(5)]]),
  new Set(["a"]),
  new Uint8Array(300),
];

test("values that are written one by one are the bytes of an array of them", () => {
  const writer = new ValueWriter(new Uint8Array(0));
  for (const value of [...numbers, ...texts, ...others, ...composed]) {
    for (const items of [[1, value], [value, value, "end"].slice(value === null ? 2 : 0)]) {
      writer.begin();
      writer.array(items.length);
      for (const item of items) writer.value(item);
      const bytes = writer.end();
      assert.deepEqual(Buffer.from(bytes), Buffer.from(encode(items)), String(value));
      assert.deepEqual(decode(bytes), items);
    }
  }
});

test("what all begin with is there each time, and what was written before is not", () => {
  const writer = new ValueWriter(encode("start"));
  for (const value of [1, "x".repeat(1000), { a: 1 }, 2]) {
    writer.begin();
    writer.value(value);
    assert.deepEqual(Buffer.from(writer.end()), Buffer.concat([encode("start"), encode(value)]));
  }
  writer.begin();
  assert.throws(() => writer.value(() => 1));
  writer.begin();
  assert.deepEqual(decode(writer.end()), "start");
});
