import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import {
  connectLink,
  type Hello,
  LINK_VERSION,
  Link,
  type LinkAddress,
  listenForLinks,
} from "#src/cluster/links.js";
import { FRAME_BYTES_MAX } from "#src/net/index.js";
import { Random } from "#src/random.js";
import { encode } from "#src/state/codec.js";
import { until, waitFor } from "../waits.js";

const HELLO: Hello = {
  version: LINK_VERSION,
  log: "l",
  member: "b",
  role: "gateway",
  epoch: 1,
  outline: "Bank",
};
const PATIENCE_MS = 300;

describe("a member that listens for others", () => {
  let listening: { readonly address: LinkAddress; close(): void };
  const hellos: Hello[] = [];

  before(async () => {
    listening = await listenForLinks<unknown>("127.0.0.1", {
      patienceMs: PATIENCE_MS,
      accept: (link, hello) => {
        hellos.push(hello);
        link.tell("welcome");
      },
    });
  });
  after(() => listening.close());

  const open = () => connect(listening.address.port, "127.0.0.1").on("error", () => {});
  const closing = (socket: Socket, what: string) =>
    until(() => socket.resume().closed, `until ${what} is closed`);

  /** A process of the cluster gets in. On a slow machine it takes a few attempts to be fast enough. */
  async function isOpenToMembers(): Promise<void> {
    const before = hellos.length;
    await persistently("until a member gets in", async () => {
      const link = new Link<unknown>(await connectLink(listening.address));
      assert.equal(await answerTo(link), "welcome");
      link.cut();
    });
    assert.ok(hellos.length > before);
    assert.deepEqual(hellos.at(-1), HELLO);
  }

  /** Nothing of it gets in, all of it is closed, and members still get in. */
  async function refusesAll(sockets: readonly Socket[], what: string): Promise<void> {
    const before = hellos.length;
    await Promise.all(sockets.map((socket, i) => closing(socket, `${what} ${i}`)));
    assert.equal(hellos.length, before);
    await isOpenToMembers();
  }

  test("lets a process in that has its key, and no other", async () => {
    await isOpenToMembers();
    const before = hellos.length;
    const wrong = { ...listening.address, key: "00".repeat(32) };
    await assert.rejects(connectLink(wrong));
    assert.equal(hellos.length, before);
  });

  test("closes connections that send anything but the handshake, whole or not", async () => {
    const [recorded] = await recordedBytes(listening.address);
    const random = new Random(18);
    const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.int(256)));
    const sockets = Array.from({ length: 120 }, () => {
      const socket = open();
      const begin = Buffer.from(recorded ?? []);
      const kind = random.int(5);
      if (kind === 0) socket.write(bytes(random.int(4000)));
      else if (kind === 1)
        socket.write(begin.subarray(0, random.int(begin.length))); // truncated
      else if (kind === 2) {
        for (let i = random.int(8); i >= 0; i--) begin[random.int(begin.length)] = random.int(256);
        socket.write(begin.subarray(0, 600));
      } else if (kind === 3) {
        begin.writeUInt16BE(random.pick([0, 16_385, 65_535]), 3); // a forged length of a record
        socket.write(Buffer.concat([begin, bytes(70_000)]));
      } else socket.end(bytes(random.int(100)));
      return socket;
    });
    await refusesAll(sockets, "a connection with garbage");
  });

  test("closes a connection that sends a byte now and then", async () => {
    const [recorded = Buffer.alloc(0)] = await recordedBytes(listening.address);
    const socket = open();
    let sent = 0;
    const dribble = setInterval(() => socket.write(recorded.subarray(sent, ++sent)), PATIENCE_MS / 10);
    await refusesAll([socket], "a slow connection");
    clearInterval(dribble);
    assert.ok(sent < recorded.length, "it was closed before it could be through");
  });

  test("takes no recorded handshake again", async () => {
    const [recorded = Buffer.alloc(0)] = await recordedBytes(listening.address);
    assert.ok(recorded.length > 200, "a handshake and a hello");
    const socket = open();
    socket.write(recorded);
    await refusesAll([socket], "a replay");
  });

  test("is open to members while others hold as many connections as they can", async () => {
    const patient = await listenForLinks<unknown>("127.0.0.1", {
      patienceMs: 600_000,
      accept: (link) => link.tell("welcome"),
    });
    const sockets = Array.from({ length: 700 }, () =>
      connect(patient.address.port, "127.0.0.1").on("error", () => {}),
    );
    const closed = () => sockets.filter((socket) => socket.resume().closed).length;
    await until(() => closed() >= 444, "until the oldest of too many connections are closed");
    const link = new Link<unknown>(await connectLink(patient.address));
    assert.equal(await answerTo(link), "welcome");
    assert.ok(closed() < 460, "no more than need be");
    patient.close();
    await until(() => closed() === 700, "until all are closed");
  });

  test("closes links of processes that have the key and do not say what they want, or say it at length", async () => {
    const random = new Random(19);
    const frame = (what: number, bytes: Uint8Array, length = bytes.length) => {
      const head = Buffer.alloc(5);
      head.writeUInt32LE(length, 0);
      head.writeUInt8(what, 4);
      return Buffer.concat([head, bytes]);
    };
    const aside = (value: unknown) => frame(1, Buffer.from(JSON.stringify(value)));
    const oddly = () => {
      const hello: Record<string, unknown> = { ...HELLO };
      const part = random.pick(Object.keys(hello));
      if (random.chance(0.5)) delete hello[part];
      else hello[part] = random.pick([null, [], {}, true, ["x"]]);
      return aside(hello);
    };
    const sends = [
      () => Buffer.alloc(0), // nothing
      () => Buffer.from(Array.from({ length: random.int(3000) }, () => random.int(256))),
      () => frame(0, encode([{ kind: "ping", sentMs: 1 }])), // a request before the hello
      () => frame(random.pick([2, 9, 0x7f]), Buffer.alloc(3)),
      () => frame(1, Buffer.alloc(0), random.pick([FRAME_BYTES_MAX + 1, 2 ** 31, 2 ** 32 - 1])), // a forged length
      () => frame(1, Buffer.alloc(100), 200), // cut short
      () => frame(0x81, Buffer.alloc(0)), // an empty part with more to follow
      () =>
        Buffer.concat([
          frame(0x81, Buffer.alloc(FRAME_BYTES_MAX)),
          frame(0x81, Buffer.alloc(FRAME_BYTES_MAX)),
        ]),
      () => aside(random.pick([null, 7, "hello", [], {}])),
      () => frame(1, Buffer.from('{"version":')),
      oddly,
      oddly,
    ];
    const sockets = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const socket = await persistently("until a link is there", () => connectLink(listening.address));
        socket.on("error", () => {});
        const send = sends[i % sends.length];
        if (send !== undefined) socket.write(send());
        return socket;
      }),
    );
    await refusesAll(sockets, "a link that is not understood");
  });
});

function answerTo(link: Link<unknown>): Promise<unknown> {
  const answer = new Promise((resolve) =>
    link.listen({ aside: resolve, batch: () => {}, closed: () => resolve("closed") }),
  );
  link.tell(HELLO);
  return waitFor("for the answer to a hello", answer);
}

/** Tries until it succeeds. */
async function persistently<T>(what: string, act: () => Promise<T>): Promise<T> {
  const results: T[] = [];
  const attempt = () =>
    act().then(
      (result) => results.push(result),
      () => 0,
    );
  await until(attempt, what);
  return results[0] as T;
}

/** What a member sends to another in a connection, hello included, and what comes back, as one between them sees it. */
async function recordedBytes(address: LinkAddress): Promise<[sent: Buffer, heard: Buffer]> {
  const sent: Buffer[] = [];
  const heard: Buffer[] = [];
  const between = createServer((socket) => {
    const other = connect(address.port, "127.0.0.1");
    for (const end of [socket, other]) end.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      sent.push(bytes);
      other.write(bytes);
    });
    other.on("data", (bytes: Buffer) => {
      heard.push(bytes);
      socket.write(bytes);
    });
    socket.on("close", () => other.destroy());
    other.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => void between.listen(0, "127.0.0.1", resolve));
  const { port } = between.address() as { port: number };
  await persistently("until a handshake is recorded", async () => {
    sent.length = heard.length = 0;
    const link = new Link<unknown>(await connectLink({ ...address, port }));
    assert.equal(await answerTo(link), "welcome");
    link.cut();
  });
  between.close();
  return [Buffer.concat(sent), Buffer.concat(heard)];
}
