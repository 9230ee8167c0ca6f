import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FRAME_BYTES_MAX, FrameReader, writeAside, writeBatch } from "#src/host/frames.js";

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
  for (const bytes of sent) writeBatch(one, bytes);
  writeAside(one, { kind: "beat", beat: 7 });
  const heard: Uint8Array[] = [];
  await new Promise<void>((resolve) => {
    const reader = new FrameReader(
      (bytes) => heard.push(Uint8Array.from(bytes)),
      (aside) => resolve(assert.deepEqual(aside, { kind: "beat", beat: 7 })),
    );
    other.on("data", (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += 1013) reader.read(chunk.subarray(at, at + 1013));
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
  assert.throws(() => reader().read(forged), { code: "HW-6005", message: /268435457 bytes/ });
  assert.throws(() => reader().read(Buffer.from([0, 0, 0, 0, 9])), { code: "HW-6005", message: /kind 9/ });
});

test("a frame that is too long is not sent", () => {
  const long = new Uint8Array(FRAME_BYTES_MAX + 1);
  assert.throws(() => writeBatch(new Socket(), long), { code: "HW-6005", message: /268435457 bytes/ });
});
