import assert from "node:assert/strict";
import { test } from "node:test";
import { PieceSizes } from "#src/host/wire/pieces.js";

test("the pieces of a move are small as long as there are few, and of a large context there are not too many", () => {
  const small = new PieceSizes(16_384);
  for (let piece = 0; piece < 40; piece++) assert.equal(small.next(), 16_384);
  const large = new PieceSizes(16_384);
  let [pieces, bytes] = [0, 0];
  for (; bytes < 1e9; pieces++) {
    const next = large.next();
    assert.ok(next <= 16 * 16_384);
    bytes += next;
  }
  assert.ok(pieces < 1e9 / 16_384 / 15, `${pieces} pieces`);
});
