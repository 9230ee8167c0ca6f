import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readWrites } from "#src/journal/log/frame.js";
import { beginEpoch, lastOf } from "#src/journal/stream/epoch.js";
import { LogFollower } from "#src/journal/stream/log-follower.js";
import { MESSAGE_BYTES_MAX, type Progress, progressWith, readMessage } from "#src/journal/stream/messages.js";
import { StreamLog } from "#src/journal/stream/stream-log.js";
import { Random } from "#src/random.js";
import { FINE, type LogLuck, SimLog, SimStream } from "#src/sim/world/sim-log.js";
import { waitFor } from "../waits.js";
import { Chance, closed, damaged, fenced, frameOf } from "./support.js";

async function writerOn(port: SimLog, attempt: string): Promise<StreamLog | null> {
  const end = await lastOf(port);
  const { position, progress } = await readerAt(port, end.position);
  const begun = await beginEpoch(port, { position, epoch: progress.epoch }, { attempt, member: attempt });
  return begun === null ? null : new StreamLog({ port, ...begun, fenced, damaged, closed });
}

/** A follower that has read the log up to this position. */
async function readerAt(
  port: SimLog,
  position: number,
  table = new Map<string, Buffer>(),
): Promise<LogFollower> {
  const follower = new LogFollower(port, 0, {
    write: (key, value) => (value === null ? table.delete(key) : table.set(key, value)),
    applied: () => {},
    epoch: () => {},
    failed: (what) => assert.fail(what),
  });
  await follower.caughtUp(position);
  follower.stop();
  return follower;
}

function luckOf(random: Random): LogLuck {
  const some = () => random.pick([0, 0.05, 0.3]);
  return {
    lost: some(),
    unacknowledged: some(),
    late: some(),
    leaderless: random.pick([0, 0.02]),
    stale: some(),
    damaged: 0,
    unheard: 0,
  };
}

/** Everything that counts in the log, as its followers read it. */
function contentOf(stream: SimStream): string[] {
  const found: string[] = [];
  let progress: Progress = { epoch: 0, number: 0 };
  for (const [i, bytes] of stream.messages.entries()) {
    const read = readMessage({ position: i + 1, bytes });
    assert.ok(read !== null, `message ${i + 1} stands at its own position`);
    const next = progressWith(progress, read);
    if (next === null) continue;
    progress = next;
    if (read.head.kind === "group") readWrites(read.content, (key) => found.push(key));
  }
  return found;
}

describe("the writer of a log", () => {
  test("whatever gets lost or late, every frame is in the log once, in order, and acknowledged in order", async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = new Random(seed);
      const stream = new SimStream();
      const port = new SimLog(stream, luckOf(random), random.fork(), new Chance(random.fork()).later);
      const writer = (await waitFor("for the epoch", writerOn(port, "a"))) as StreamLog;
      const acknowledged: number[] = [];
      const count = 1 + random.int(60);
      await waitFor(
        `for all acknowledgements of seed ${seed}`,
        new Promise<void>((resolve) => {
          for (let i = 0; i < count; i++) {
            writer.append(frameOf({ [`${i}`]: "x" }), (error) => {
              assert.equal(error, null);
              acknowledged.push(i);
              if (acknowledged.length === count) resolve();
            });
          }
        }),
      );
      const expected = Array.from({ length: count }, (_, i) => i);
      assert.deepEqual(acknowledged, expected, `seed ${seed}`);
      assert.deepEqual(contentOf(stream).map(Number), expected, `seed ${seed}`);
    }
  });

  test("of writers that take the log from each other, each finds what the others were told to be safe", async () => {
    let takeovers = 0;
    for (let seed = 1; seed <= 300; seed++) takeovers += await compete(seed);
    assert.ok(takeovers > 300, `${takeovers} takeovers`);
  });

  test("without the fence, that is found out", async () => {
    let found = 0;
    for (let seed = 1; seed <= 40 && found === 0; seed++) {
      await compete(seed, new SimStream(false)).catch(() => {
        found += 1;
      });
    }
    assert.equal(found, 1);
  });

  test("a frame that is too large for one message is several, which count together or not at all", async () => {
    const random = new Random(7);
    const stream = new SimStream();
    const { later } = new Chance(random);
    const port = new SimLog(stream, FINE, random, later);
    const writer = (await writerOn(port, "a")) as StreamLog;
    const large = "x".repeat(2.5 * MESSAGE_BYTES_MAX);
    await new Promise<void>((resolve) =>
      writer.append(frameOf({ before: "1", large, behind: "2" }), () => resolve()),
    );
    assert.equal(stream.messages.length, 4);
    const cutOff = stream.messages.splice(3); // a head that ended in the middle
    const next = (await writerOn(port, "b")) as StreamLog;
    await new Promise<void>((resolve) => next.append(frameOf({ next: "3" }), () => resolve()));
    const table = await waitFor("for the table", tableOf(port, stream.messages.length));
    assert.deepEqual([...table.keys()], ["next"]);
    stream.messages.splice(3, 2, ...cutOff);
    const whole = await waitFor("for the table", tableOf(port, stream.messages.length));
    assert.deepEqual(
      [...whole].map(([key, value]) => [key, value.length]),
      [
        ["before", 1],
        ["large", large.length],
        ["behind", 1],
      ],
    );
  });

  test("a log that has lost acknowledged messages is called damaged", async () => {
    const random = new Random(7);
    const stream = new SimStream();
    const port = new SimLog(stream, FINE, random, new Chance(random).later);
    const writer = (await writerOn(port, "a")) as StreamLog;
    const append = (key: string) =>
      new Promise<unknown>((resolve) => writer.append(frameOf({ [key]: "x" }), resolve));
    assert.equal(await append("a"), null);
    assert.equal(await append("b"), null);
    stream.messages.pop();
    assert.match(String(await append("c")), /HW-3004/);
  });
});

async function tableOf(port: SimLog, position: number): Promise<Map<string, Buffer>> {
  const table = new Map<string, Buffer>();
  await readerAt(port, position, table);
  return table;
}

/** Several processes write to one log, and take it from each other at any moment; each goes on until it finds out. */
async function compete(seed: number, stream = new SimStream()): Promise<number> {
  const random = new Random(seed);
  const { later } = new Chance(random.fork());
  const luck = luckOf(random);
  const safe: string[] = [];
  let takeovers = 0;
  const process = async (name: string) => {
    const port = new SimLog(stream, luck, random.fork(), later);
    for (let life = 0; life < 3; life++) {
      const writer = await writerOn(port, `${name}${life}`);
      if (writer === null) continue;
      takeovers += 1;
      const found = contentOf(stream);
      for (const key of safe) assert.ok(found.includes(key), `${key} is gone (seed ${seed})`);
      await new Promise<void>((resolve) => {
        const total = 5 + random.int(20);
        let settled = 0;
        for (let i = 0; i < total; i++) {
          const key = `${name}${life}/${i}`;
          writer.append(frameOf({ [key]: "x" }), (error) => {
            if (error === null) safe.push(key);
            settled += 1;
            if (settled === total) resolve();
          });
        }
      });
    }
  };
  await waitFor(`for the processes of seed ${seed}`, Promise.all(["a", "b", "c"].map(process)));
  const all = contentOf(stream);
  assert.equal(new Set(all).size, all.length, "nothing is there twice");
  for (const key of safe) assert.ok(all.includes(key));
  return takeovers;
}
