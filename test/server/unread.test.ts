import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Context, expose, readonly, run, type ServeOptions, serve } from "headwater";
import { connect } from "headwater/client";
import { pack } from "#src/protocol/index.js";
import { Random } from "#src/random.js";
import { dial, firstReply, posting, RawSocket } from "./raw.js";

/**
 * A caller that asks for much and reads nothing, with sockets, requests and replies of random number and size, and an honest caller
 * beside it. What counts is what the service has done for the one and for the other, not how long it took.
 */

const MEGABYTE = 2 ** 20;
const STRANGER = "127.0.0.2";
/** What the kernel takes at most for a connection that is not read: its buffers on both sides. The server cannot tell. */
const KERNEL_BYTES = 12 * MEGABYTE;

class Shelf extends Context<string> {
  taken = 0;

  take(bytes: number) {
    this.taken += 1;
    return bytes % 2 === 0 ? "x".repeat(bytes) : { list: [new Uint8Array(bytes)] };
  }

  @readonly count() {
    return this.taken;
  }
}

class Warehouse extends Context {
  shelves = this.children(Shelf);
}

const api = expose(Warehouse, {
  take: (warehouse, shelf: string, bytes: number) => warehouse.shelves(shelf).take(bytes),
});

async function warehouse(t: TestContext, limits: ServeOptions["limits"] = {}) {
  const service = await run(Warehouse);
  const server = await serve(service, api, { limits: { stallMs: 600_000, ...limits } });
  const honest = connect<typeof api>(server.url, { backoffMs: 1 });
  const sockets: RawSocket[] = [];
  t.after(async () => {
    for (const { ws } of sockets) ws.terminate(); // or the server would wait for them to read that it closes
    honest.close();
    await server.close({ graceMs: 0 });
    await service.stop();
  });
  /** A socket of the stranger, which reads nothing any more. */
  const muted = async () => {
    const socket = new RawSocket(t, server.url, {}, STRANGER);
    sockets.push(socket);
    await socket.hello(String(sockets.length).padStart(48, "0"));
    socket.ws.pause();
    return socket;
  };
  return {
    port: server.port,
    honest,
    muted,
    taken: () => service.root.shelves("stranger").count(),
  };
}

for (const seed of [1, 2, 3, 4]) {
  test(`nothing is done for a caller beyond its share, its requests stay unread, seed ${seed}`, async (t) => {
    const random = new Random(seed);
    const total = 8 * MEGABYTE;
    const { muted, honest, taken } = await warehouse(t, {
      inFlightBytesTotal: total,
      inFlightBytes: MEGABYTE,
    });
    const sockets: RawSocket[] = [];
    for (let i = 1 + random.int(4); i > 0; i--) sockets.push(await muted());
    const bytes = (1 + random.int(8)) * 250_001;
    const allowed = total / 2 + sockets.length * KERNEL_BYTES;
    const requests = Math.ceil((2 * allowed) / bytes / sockets.length);
    sockets[0]?.ask(1, "take", "stranger", bytes); // now it is known how large its replies are
    while ((await taken()) === 0) await honest.api.take("honest", 1000);
    for (let number = 2; number <= requests; number++)
      for (const socket of sockets) socket.ask(number, "take", "stranger", bytes);
    let [before, now] = [-1, await taken()];
    for (; now !== before; [before, now] = [now, await taken()])
      for (let i = 0; i < 50; i++)
        assert.equal(((await honest.api.take("honest", 1000)) as string).length, 1000);
    assert.ok(now * bytes <= allowed, `${now} of ${requests * sockets.length} requests were carried out`);
  });
}

test("however many requests a caller sends over many sockets, others are served in between", async (t) => {
  const { muted, honest, taken } = await warehouse(t);
  const sockets: RawSocket[] = [];
  for (let i = 0; i < 20; i++) sockets.push(await muted());
  await honest.api.take("honest", 10);
  const ask = (number: number) => [number, "take", pack(["stranger", 10])];
  for (const socket of sockets) socket.say(...Array.from({ length: 200 }, (_, i) => ask(i + 1)));
  const counts: number[] = [];
  for (let i = 0; i < 20; i++) {
    await honest.api.take("honest", 10);
    counts.push(await taken());
  }
  const most = Math.max(...counts.slice(1).map((count, i) => count - (counts[i] ?? 0)));
  // A request of the honest caller takes a few turns of the event loop, in each of which the other one has 128 requests.
  assert.ok(most <= 6 * 128, `${most} requests of one caller were carried out during one of another`);
});

test("over HTTP, replies that have no room are not written", async (t) => {
  const { port, honest, taken } = await warehouse(t, { inFlightBytesTotal: 8 * MEGABYTE });
  const post = posting("take", JSON.stringify(["stranger", MEGABYTE]));
  const first = dial(t, port, STRANGER);
  first.write(post);
  await firstReply(first); // now it is known how large its replies are
  const sockets = Array.from({ length: 4 }, () => dial(t, port, STRANGER));
  for (const socket of sockets) for (let i = 0; i < 100; i++) socket.write(post);
  let [before, now] = [-1, 0];
  for (; now !== before || now === 0; [before, now] = [now, await taken()])
    for (let i = 0; i < 50; i++) await honest.api.take("honest", 1000);
  assert.ok(
    now * MEGABYTE <= 4 * MEGABYTE + sockets.length * KERNEL_BYTES,
    `${now} requests were carried out`,
  );
});
