import assert from "node:assert/strict";
import { test } from "node:test";
import { pack, toForm } from "#src/protocol/index.js";
import { toJson } from "#src/server/json.js";
import { Reply } from "#src/server/reply.js";
import { leastBytes } from "#src/server/reply-size.js";
import { LARGE_REPLY_BYTES, ReadTurns } from "#src/server/turns.js";
import fc from "../properties.js";

/** Connections of callers whose replies are noted in the order in which they are written. */
class Callers {
  readonly written: string[] = [];
  readonly #turns = new ReadTurns();

  /** One reply of a connection. */
  reply(caller: string, request: number, hasRoom = true): Reply {
    const connection = {
      reply: (_: Reply, ok: boolean) => void this.written.push(`${caller}${request}${ok ? "" : " failed"}`),
      holdsBack: () => !hasRoom,
      inTurn: (send: () => void) => this.#turns.wait(caller, send),
    };
    return new Reply(connection, request, "take", undefined, 0);
  }

  async untilWritten(count: number): Promise<void> {
    while (this.written.length < count) await new Promise(setImmediate);
  }
}

const MUCH = { list: ["x".repeat(LARGE_REPLY_BYTES / 2), new Uint8Array(LARGE_REPLY_BYTES / 2)] };

test("large replies are written one per turn of the event loop, and callers take turns", async () => {
  const callers = new Callers();
  for (const request of [1, 2, 3, 4]) callers.reply("a", request).resolve(MUCH);
  callers.reply("b", 1).resolve(MUCH);
  assert.deepEqual(callers.written, [], "the program goes on first");
  await callers.untilWritten(1);
  assert.deepEqual(callers.written, ["a1"]);
  callers.reply("c", 1).resolve(MUCH);
  await callers.untilWritten(6);
  assert.deepEqual(callers.written, ["a1", "b1", "a2", "c1", "a3", "a4"]);
});

test("small replies, errors and replies that are held back wait for no turn", () => {
  const callers = new Callers();
  callers.reply("a", 1).resolve(MUCH);
  callers.reply("a", 2).resolve("x".repeat(LARGE_REPLY_BYTES));
  callers.reply("a", 3).reject(new Error("no"));
  callers.reply("a", 4, false).resolve(MUCH);
  assert.deepEqual(callers.written, ["a2", "a3 failed", "a4"]);
});

test("no value is taken to be larger than what is written of it", () => {
  const values = fc.anything({
    withMap: true,
    withSet: true,
    withDate: true,
    withTypedArray: true,
    withBigInt: true,
  });
  fc.assert(
    fc.property(values, (value) => {
      const [packed, json] = [pack(toForm(value, false)).length, Buffer.byteLength(toJson(value))];
      assert.ok(leastBytes(value, Number.POSITIVE_INFINITY) <= Math.min(packed, json));
    }),
  );
});

test("a value is not looked at beyond what matters", () => {
  let looks = 0;
  const items = Array.from({ length: 1000 }, () =>
    Object.defineProperty({}, "x", { enumerable: true, get: () => ++looks }),
  );
  assert.ok(leastBytes(items, 30) > 30);
  assert.ok(looks < 30, `${looks} looks`);
});
