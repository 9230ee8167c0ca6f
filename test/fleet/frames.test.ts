import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FRAME_BYTES_MAX, FrameReader, writeAside, writeBatch } from "#src/host/link/frames.js";

/** Two ends of a real unix socket. */
async function pair(): Promise<{ one: Socket; other: Socket; close: () => void }> {
  const server = createServer();
  server.listen(join(tmpdir(), `headwater-frames-${process.pid}.sock`));
  await once(server, "listening");
  const one = connect(server.address() as string);
  const [other] = (await once(server, "connection")) as [Socket];
  const close = () => {
    one.destroy();
    other.destroy();
    server.close();
  };
  return { one, other, close };
}

test("frames arrive whole and in order over a socket, however they are cut", async () => {
  const { one, other, close } = await pair();
  const sent = Array.from({ length: 200 }, (_, i) => new Uint8Array(i * 977).fill(i));
  // As long as a frame may be, one byte more, and several frames long.
  for (const length of [FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 5 * FRAME_BYTES_MAX - 3])
    sent.push(Uint8Array.from({ length }, (_, i) => i % 251));
  for (const bytes of sent) writeBatch(one, bytes);
  writeAside(one, { kind: "beat", beat: 7 });
  const heard: Uint8Array[] = [];
  await new Promise<void>((resolve) => {
    const reader = new FrameReader(
      (bytes) => heard.push(Uint8Array.from(bytes)),
      (aside) => resolve(assert.deepEqual(aside, { kind: "beat", beat: 7 })),
    );
    other.on("data", (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += 10_013) reader.read(chunk.subarray(at, at + 10_013));
    });
  });
  assert.deepEqual(heard, sent);
  close();
});

test("a forged length and an unknown kind are refused", () => {
  const reader = () =>
    new FrameReader(
      () => assert.fail(),
      () => assert.fail(),
    );
  const forged = Buffer.alloc(5);
  forged.writeUInt32LE(FRAME_BYTES_MAX + 1, 0);
  assert.throws(() => reader().read(forged), { code: "HW-6005", message: /1048577 bytes/ });
  assert.throws(() => reader().read(Buffer.from([0, 0, 0, 0, 9])), { code: "HW-6005", message: /kind 9/ });
});

test("no frame is longer than the limit, however long a batch or an aside is", async () => {
  const { one, other, close } = await pair();
  const wanted = 3 * FRAME_BYTES_MAX + 10;
  const outline = { kind: "failed", code: "HW-1", message: "x".repeat(2 * FRAME_BYTES_MAX) } as const;
  writeBatch(one, new Uint8Array(wanted));
  writeAside(one, outline);
  one.end();
  const chunks: Buffer[] = [];
  for await (const chunk of other) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const lengths: number[] = [];
  for (let at = 0; at < all.length; at += 5 + (lengths.at(-1) ?? 0)) lengths.push(all.readUInt32LE(at));
  assert.ok(lengths.every((length) => length <= FRAME_BYTES_MAX));
  assert.equal(lengths.length, 4 + 3);
  let heard: unknown;
  const reader = new FrameReader(
    (bytes) => assert.equal(bytes.length, wanted),
    (aside) => {
      heard = aside;
    },
  );
  reader.read(all);
  assert.deepEqual(heard, outline);
  close();
});
