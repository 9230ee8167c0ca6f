import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import type { BatchReceiver, Carrier } from "#src/net/carrier.js";
import { PortCarrier } from "#src/net/port-carrier.js";
import { FRAME_BYTES_MAX, FrameReader, SocketCarrier } from "#src/net/socket-carrier.js";

interface Word {
  readonly word: string;
}

/** Two ends of a real unix socket. */
async function sockets(): Promise<{ one: Socket; other: Socket; close: () => void }> {
  const server = createServer();
  server.listen(join(tmpdir(), `headwater-carriers-${process.pid}.sock`));
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

const unexpected = (): never => assert.fail();
const NOTHING: BatchReceiver<Word> = { batch: unexpected, aside: unexpected };

/** A carrier, with a receiver at its other end. */
type Opened = (receiver: BatchReceiver<Word>) => Promise<{ carrier: Carrier<Word>; close: () => void }>;

const KINDS: Readonly<Record<string, Opened>> = {
  "a socket": async (receiver) => {
    const { one, other, close } = await sockets();
    new SocketCarrier(other, receiver, unexpected);
    return { carrier: new SocketCarrier(one, NOTHING, unexpected), close };
  },
  "a socket that cuts what it carries anywhere": async (receiver) => {
    const { one, other, close } = await sockets();
    const reader = new FrameReader(receiver);
    other.on("data", (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += 10_013) reader.read(chunk.subarray(at, at + 10_013));
    });
    return { carrier: new SocketCarrier(one, NOTHING, unexpected), close };
  },
  "ports of threads": async (receiver) => {
    const { port1, port2 } = new MessageChannel();
    new PortCarrier<Word>(port2).listen(receiver);
    return { carrier: new PortCarrier<Word>(port1), close: () => port1.close() };
  },
};

/** Of all lengths: none, as long as a frame may be, one byte more, and several frames long. */
function* batches(): Iterable<Uint8Array> {
  for (let i = 0; i < 200; i++) yield new Uint8Array(i * 977).fill(i);
  for (const length of [FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 5 * FRAME_BYTES_MAX - 3])
    yield Uint8Array.from({ length }, (_, i) => i % 251);
}

for (const [kind, open] of Object.entries(KINDS)) {
  test(`what ${kind} carries arrives whole and in order`, async () => {
    const heard: (Uint8Array | Word)[] = [];
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const { carrier, close } = await open({
      batch: (bytes) => heard.push(Uint8Array.from(bytes)),
      aside: (word) => {
        heard.push(word);
        if (word.word === "over") isOver();
      },
    });
    const sent: (Uint8Array | Word)[] = [];
    for (const [index, bytes] of [...batches()].entries()) {
      sent.push(bytes.slice(), { word: `batch ${index}` });
      carrier.post(bytes);
      carrier.tell({ word: `batch ${index}` });
    }
    sent.push({ word: "over" });
    carrier.tell({ word: "over" });
    await over;
    assert.deepEqual(heard, sent);
    close();
  });
}

test("a forged length and an unknown kind are refused, and the carrier says so", async () => {
  const reader = () => new FrameReader(NOTHING);
  const forged = Buffer.alloc(5);
  forged.writeUInt32LE(FRAME_BYTES_MAX + 1, 0);
  assert.throws(() => reader().read(forged), { code: "HW-6005", message: /1048577 bytes/ });
  assert.throws(() => reader().read(Buffer.from([0, 0, 0, 0, 9])), { code: "HW-6005", message: /kind 9/ });
  const { one, other, close } = await sockets();
  const broken = new Promise<Error>((resolve) => void new SocketCarrier(other, NOTHING, resolve));
  one.write(forged);
  assert.match((await broken).message, /1048577 bytes/);
  close();
});

test("no frame is longer than the limit, however long a batch or an aside is", async () => {
  const { one, other, close } = await sockets();
  const carrier = new SocketCarrier<Word>(one, NOTHING, unexpected);
  const long = { word: "x".repeat(2 * FRAME_BYTES_MAX) };
  carrier.post(new Uint8Array(3 * FRAME_BYTES_MAX + 10));
  carrier.tell(long);
  one.end();
  const chunks: Buffer[] = [];
  for await (const chunk of other) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const lengths: number[] = [];
  for (let at = 0; at < all.length; at += 5 + (lengths.at(-1) ?? 0)) lengths.push(all.readUInt32LE(at));
  assert.ok(lengths.every((length) => length <= FRAME_BYTES_MAX));
  assert.equal(lengths.length, 4 + 3);
  close();
});
