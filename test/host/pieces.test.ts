import assert from "node:assert/strict";
import { test } from "node:test";
import { PieceSizes } from "#src/host/pieces.js";

test("the pieces of a move are small as long as there are few, and of a large context there are not too many", () => {
  const small = new PieceSizes(32_768);
  for (let piece = 0; piece < 40; piece++) assert.equal(small.next(), 32_768);
  const large = new PieceSizes(32_768);
  let [pieces, bytes] = [0, 0];
  for (; bytes < 1e9; pieces++) {
    const next = large.next();
    assert.ok(next <= 8 * 32_768);
    bytes += next;
  }
  assert.ok(pieces < 1e9 / 32_768 / 7, `${pieces} pieces`);
});
