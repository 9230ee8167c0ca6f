import assert from "node:assert/strict";
import { test } from "node:test";
import { Reply } from "#src/server/reply.js";
import { LARGE_REPLY_BYTES, ReadTurns } from "#src/server/turns.js";

/** Connections of callers whose replies are noted in the order in which they are written. */
class Callers {
  readonly written: string[] = [];
  readonly #turns = new ReadTurns();

  /** One reply to a function whose replies have this size. */
  reply(caller: string, request: number, expectedBytes: number, hasRoom = true): Reply {
    const connection = {
      reply: (_: Reply, ok: boolean) => void this.written.push(`${caller}${request}${ok ? "" : " failed"}`),
      holdsBack: () => !hasRoom,
      inTurn: (send: () => void) => this.#turns.wait(caller, send),
    };
    return new Reply(connection, request, "take", { expectedBytes, replied: () => {} }, 0);
  }

  async untilWritten(count: number): Promise<void> {
    while (this.written.length < count) await new Promise(setImmediate);
  }
}

const LARGE = LARGE_REPLY_BYTES + 1;

test("large replies are written one per turn of the event loop, and callers take turns", async () => {
  const callers = new Callers();
  for (const request of [1, 2, 3, 4]) callers.reply("a", request, LARGE).resolve("much");
  callers.reply("b", 1, LARGE).resolve("much");
  assert.deepEqual(callers.written, [], "the program goes on first");
  await callers.untilWritten(1);
  assert.deepEqual(callers.written, ["a1"]);
  callers.reply("c", 1, LARGE).resolve("much");
  await callers.untilWritten(6);
  assert.deepEqual(callers.written, ["a1", "b1", "a2", "c1", "a3", "a4"]);
});

test("small replies, errors and replies that are held back wait for no turn", () => {
  const callers = new Callers();
  callers.reply("a", 1, LARGE).resolve("much");
  callers.reply("a", 2, LARGE_REPLY_BYTES).resolve("little");
  callers.reply("a", 3, LARGE).reject(new Error("no"));
  callers.reply("a", 4, LARGE, false).resolve("much");
  assert.deepEqual(callers.written, ["a2", "a3 failed", "a4"]);
});
