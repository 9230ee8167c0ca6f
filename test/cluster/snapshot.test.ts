import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal } from "#src/journal/memory.js";
import { MESSAGE_BYTES_MAX } from "#src/journal/stream/messages.js";
import { lastSnapshot, readSnapshot, writeSnapshot } from "#src/journal/stream/snapshot.js";
import { Random } from "#src/random.js";
import { FINE, SimLog, SimStream } from "#src/sim/world/sim-log.js";
import { write } from "../journal/support.js";
import { Chance, publish } from "./support.js";

function newLog() {
  const stream = new SimStream();
  const random = new Random(3);
  return { stream, port: new SimLog(stream, FINE, random, new Chance(random).later) };
}

async function restored(port: SimLog, after = 0) {
  const found = new Map<string, number>();
  const snapshot = await readSnapshot(port, after, (key, value) => found.set(key, value.length));
  return { position: snapshot?.position ?? null, found };
}

const at = (position: number) => ({ position, progress: { epoch: 1, number: position - 1 } });

test("a snapshot gives back every key, also values that are larger than a part", async () => {
  const { port } = newLog();
  const table = new MemoryJournal();
  const expected = new Map<string, number>();
  for (let i = 0; i < 500; i++) expected.set(`k${i}`, i * 7);
  expected.set("large", 3 * MESSAGE_BYTES_MAX + 5).set("none", 0);
  for (const [key, length] of expected) await write(table, { [key]: "x".repeat(length) });
  assert.deepEqual(await restored(port), { position: null, found: new Map() });
  assert.equal((await writeSnapshot(port, table, at(5)))?.position, 5);
  const { position, found } = await restored(port);
  assert.equal(position, 5);
  assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()));
  assert.equal((await restored(port, 5)).position, null);
});

test("the log is cut behind the last but one, which does if the last is damaged", async () => {
  const { port, stream } = newLog();
  const table = new MemoryJournal();
  for (let i = 1; i <= 40; i++) await publish(port, i, `m${i}`);
  await write(table, { a: "1" });
  await writeSnapshot(port, table, at(10));
  assert.equal(stream.first, 1);
  await write(table, { a: "22" });
  await writeSnapshot(port, table, at(20));
  assert.equal(stream.first, 11);
  await write(table, { a: "333" });
  await writeSnapshot(port, table, at(30));
  assert.equal(stream.first, 21);
  assert.deepEqual([...stream.parts.keys()].sort(), ["at.20.0", "at.30.0", "snapshot"]);
  assert.equal(await writeSnapshot(port, table, at(25)), null, "a late one does no harm");
  assert.equal(await lastSnapshot(port), 30);
  assert.deepEqual(await restored(port), { position: 30, found: new Map([["a", 3]]) });
  await port.putPart("at.30.0", Buffer.from("damaged"));
  assert.deepEqual(await restored(port), { position: 20, found: new Map([["a", 2]]) });
});
