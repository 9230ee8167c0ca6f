import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { pack } from "#src/protocol/frames.js";
import { dial, firstReply, RawSocket } from "./raw.js";
import { gates, type Running, unharmed, until } from "./town.js";

/** Bad input and intruders on sockets: see http-faults.test.ts. */

const SECRET = "e".repeat(48);

/** The code and the words with which a socket was closed belong together. */
async function closedWith(socket: RawSocket, expected: string): Promise<void> {
  const { code, reason } = await socket.closed;
  assert.deepEqual([code, reason.slice(0, 8)], [Number(expected.slice(3)), `${expected}:`], reason);
}

/** A frame as its bytes. Clients must mask what they send; a mask of zeros changes nothing. */
function frame(opcode: number, payload: Uint8Array, { fin = true, rsv1 = false } = {}): Buffer {
  const first = (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode;
  const { length } = payload;
  const head = length < 126 ? [first, 0x80 | length] : [first, 0x80 | 126, length >> 8, length & 0xff];
  assert.ok(length < 65_536);
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}

/** A connection that has become a WebSocket, for frames that no library would send. */
async function upgraded(t: TestContext, { server }: Running, extension = ""): Promise<Socket> {
  const socket = dial(t, server.port);
  const lines = [
    "GET /socket HTTP/1.1",
    `host: 127.0.0.1:${server.port}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    ...(extension === "" ? [] : [`sec-websocket-extensions: ${extension}`]),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [head] = (await once(socket, "data")) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 101 /);
  if (extension !== "")
    assert.doesNotMatch(head.toString(), /sec-websocket-extensions/i, "it is not agreed to");
  return socket;
}

/** The close code that a server sends on such a connection, among whatever else it sends. */
function closeCodeOn(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2) {
        const short = (bytes[1] ?? 0) & 0x7f;
        const start = short === 126 ? 4 : 2;
        const length = short === 126 ? bytes.readUInt16BE(2) : short;
        if (bytes.length < start + length) return;
        if (((bytes[0] ?? 0) & 0x0f) === 8) resolve(bytes.readUInt16BE(start));
        bytes = bytes.subarray(start + length);
      }
    });
  });
}

test("a page of a foreign origin gets no socket", async (t) => {
  await unharmed(t, { origins: ["https://example.org"] }, async ({ server }) => {
    const asked = async (origin: string) => {
      const headers = {
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        origin,
      };
      const asking = request({ host: "127.0.0.1", port: server.port, path: "/socket", headers }).end();
      asking.on("error", () => {});
      return await new Promise<number | undefined>((resolve) => {
        asking.once("response", (response) => resolve(response.resume().statusCode));
        asking.once("upgrade", (response, socket) => {
          socket.destroy();
          resolve(response.statusCode);
        });
      });
    };
    assert.equal(await asked("https://evil.example"), 403);
    assert.equal(await asked("null"), 403);
    assert.equal(await asked("https://example.org"), 101);
    assert.equal(await asked(server.url), 101);
  });
});

test("a socket is nowhere but where it is", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const socket = dial(t, server.port);
    socket.write("GET /socket/../x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    assert.equal((await firstReply(socket)).code, "HW-4004");
    const other = dial(t, server.port);
    other.write("GET /socket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    assert.equal((await firstReply(other)).code, "HW-4005", "it has no key");
  });
});

test("compression is not agreed to, and a compressed frame is refused unopened", async (t) => {
  await unharmed(t, {}, async (running) => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000));
    assert.ok(bomb.length < 65_536);
    const socket = await upgraded(t, running, "permessage-deflate");
    const code = closeCodeOn(socket);
    socket.write(frame(2, bomb, { rsv1: true }));
    assert.equal(await code, 1002, "a protocol error");
    assert.ok(running.log.some((line) => line.endsWith("HW-4014")));
  });
});

test("a frame that is too large is refused by its length alone", async (t) => {
  await unharmed(t, { limits: { bodyBytes: 1000 } }, async (running) => {
    const announced = [
      [0x82, 0x80 | 126, 1001 >> 8, 1001 & 0xff, 0, 0, 0, 0],
      [0x82, 0x80 | 127, 0, 0, 0x10, 0, 0, 0, 0, 0], // 17 terabytes are coming
    ];
    for (const head of announced) {
      const socket = await upgraded(t, running);
      const code = closeCodeOn(socket);
      socket.write(Buffer.from(head));
      assert.equal(await code, 1009);
    }
    assert.equal(running.log.filter((line) => line.endsWith("HW-4006")).length, 2);
  });
});

test("fragments without end are refused, also when each of them is empty", async (t) => {
  await unharmed(t, { limits: { bodyBytes: 1000 } }, async (running) => {
    for (const payload of [Buffer.from("xxxxxxxxxx"), Buffer.alloc(0)]) {
      const socket = await upgraded(t, running);
      const code = closeCodeOn(socket);
      socket.write(frame(2, payload, { fin: false }));
      const more = Buffer.concat(Array.from({ length: 20_000 }, () => frame(0, payload, { fin: false })));
      socket.write(more);
      assert.ok([1008, 1009].includes(await code), String(await code));
    }
    assert.equal(running.log.filter((line) => line.endsWith("HW-4006")).length, 2);
  });
});

test("a flood of pings is refused, of both kinds", async (t) => {
  await unharmed(t, { limits: { pings: 50 } }, async ({ server }) => {
    const [first, second] = [new RawSocket(t, server.url), new RawSocket(t, server.url)];
    await first.hello(SECRET);
    for (let i = 0; i < 1000; i++) first.ws.ping();
    await closedWith(first, "HW-4014");
    await second.hello(SECRET);
    for (let i = 0; i < 1000; i++) second.say([0, "ping"]);
    await closedWith(second, "HW-4014");
  });
});

test("a few pings are answered", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const socket = new RawSocket(t, server.url);
    await socket.hello(SECRET);
    socket.ws.ping("hello");
    const [data] = (await once(socket.ws, "pong")) as [Buffer];
    assert.equal(data.toString(), "hello");
    socket.say([0, "ping"]);
    await socket.hears(([, what]) => what === "pong");
  });
});

test("a socket that never reads is cut off, and what it asked for does not pile up", async (t) => {
  await unharmed(t, { limits: { stallMs: 50, pingMs: 60_000 } }, async ({ server, log }) => {
    const socket = new RawSocket(t, server.url);
    await socket.hello(SECRET);
    socket.ws.pause();
    const big = pack(["x".repeat(200_000)]);
    for (let id = 1; id <= 200; id++) socket.say([id, "echo", big]);
    await until(() => log.some((line) => line.endsWith("HW-4015")));
    socket.ws.resume();
    await socket.closed;
    assert.ok(socket.heard.length < 200, `${socket.heard.length} replies`);
  });
});

test("a client that is gone without a word is noticed", async (t) => {
  await unharmed(t, { limits: { pingMs: 30 } }, async (running) => {
    const socket = await upgraded(t, running);
    socket.write(frame(2, pack([0, "hello", 1, SECRET, null, 0])));
    socket.resume(); // it reads, but answers no ping
    await new Promise((resolve) => socket.once("close", resolve));
  });
});

test("above its limit of requests under way, a connection is not read", async (t) => {
  await unharmed(t, { limits: { inFlight: 3 } }, async ({ server, client }) => {
    const socket = new RawSocket(t, server.url);
    await socket.hello(SECRET);
    for (let id = 1; id <= 3; id++) socket.ask(id, "bumpBehind", `flood ${id}`, "flood");
    for (let id = 4; id <= 50; id++) socket.ask(id, "bump", "flooded", 1);
    await gates.reached("flood");
    const { api } = client();
    for (let i = 0; i < 20; i++) assert.equal(await api.read("flooded"), 0);
    gates.open("flood");
    await socket.reply(50);
    assert.equal(await api.read("flooded"), 47);
    assert.equal(socket.heard.length, 51, "all were answered in the end");
  });
});

test("the same counts for the bytes of its requests", async (t) => {
  await unharmed(t, { limits: { inFlightBytes: 1000 } }, async ({ server, client }) => {
    const socket = new RawSocket(t, server.url);
    await socket.hello(SECRET);
    const filler = "x".repeat(600);
    for (let id = 1; id <= 2; id++) socket.ask(id, "bumpBehind", `heavy ${id}`, "heavy", filler);
    socket.ask(3, "bump", "light", 1);
    await gates.reached("heavy");
    const { api } = client();
    for (let i = 0; i < 20; i++) assert.equal(await api.read("light"), 0);
    gates.open("heavy");
    await socket.reply(3);
    assert.equal(await api.read("light"), 1);
  });
});

test("one frame with more requests than may be under way is worked off as they are answered", async (t) => {
  await unharmed(t, { limits: { inFlight: 2 } }, async ({ server }) => {
    const socket = new RawSocket(t, server.url);
    await socket.hello(SECRET);
    const ids = Array.from({ length: 100 }, (_, i) => i + 1);
    socket.say(...ids.map((id) => [id, "bump", pack(["one frame", 1])]));
    await socket.reply(100);
    assert.deepEqual(
      socket.heard.slice(1).map(([id, ok, value]) => [id, ok, value]),
      ids.map((id) => [id, true, id]),
    );
  });
});

test("messages before it is known who is calling are refused, and the socket closed", async (t) => {
  await unharmed(
    t,
    { tokens: (token) => (token === "honest" ? "honest" : null), limits: { helloMs: 100 } },
    async ({ server }) => {
      for (const message of [
        [1, "bump", pack(["attacked", 1])],
        [0, "ack", 0],
        [0, "ping"],
      ]) {
        const socket = new RawSocket(t, server.url);
        await socket.opened;
        socket.say(message);
        await closedWith(socket, "HW-4010");
      }
      const impatient = new RawSocket(t, server.url);
      await impatient.opened;
      impatient.say([0, "hello", 1, SECRET, "stolen", 0], [1, "bump", pack(["attacked", 1])]);
      await closedWith(impatient, "HW-4010");
      const silent = new RawSocket(t, server.url);
      await closedWith(silent, "HW-4010");
    },
    { token: "honest" },
  );
});

test("a token that is revoked while its socket is open closes it, and nothing it asked for is lost or doubled", async (t) => {
  await unharmed(
    t,
    { tokens: (token) => token },
    async ({ server, client, log }) => {
      const eve = client({ token: "eve" });
      assert.match(String(await eve.api.whoAmI()), /^eve\//);
      server.revoke("eve");
      const error = await eve.closed;
      assert.equal(error?.code, "HW-4011");
      assert.equal(eve.state, "closed");
      await assert.rejects(eve.api.bump("attacked", 1), { code: "HW-4018" });
      const again = client({ token: "eve" });
      assert.equal((await again.closed)?.code, "HW-4011");
      assert.ok(!log.join("\n").includes("secret"));
    },
    { token: "honest" },
  );
});

test("a session cannot be taken over with another caller's token", async (t) => {
  await unharmed(
    t,
    { tokens: (token) => token },
    async ({ server }) => {
      const [ada, eve] = [new RawSocket(t, server.url), new RawSocket(t, server.url)];
      const [, , hers] = await ada.hello(SECRET, "ada");
      const [, , other] = await eve.hello(SECRET, "eve");
      assert.notEqual((other as { session: string }).session, (hers as { session: string }).session);
      assert.equal((other as { resumed: boolean }).resumed, false);
      ada.ask(1, "whoAmI");
      await ada.reply(1);
    },
    { token: "honest" },
  );
});

test("what is not the protocol closes the socket", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const broken: [bytes: Buffer | string, code: string][] = [
      ["text", "HW-4014"],
      [Buffer.from([0xc1]), "HW-4007"],
      [Buffer.from([0x93, 1]), "HW-4007"],
      [Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]), "HW-4007"], // four billion items are coming
      [Buffer.from([0xc7, 1, 0x78, 0]), "HW-4007"], // an extension type
      [Buffer.from([1]), "HW-4014"],
      [Buffer.from(pack([-1, "bump", pack(["attacked", 1])])), "HW-4014"],
      [Buffer.from(pack([1.5, "bump", pack(["attacked", 1])])), "HW-4014"],
      [Buffer.from(pack([0, "shutdown"])), "HW-4014"],
      [Buffer.from(pack([0, "ack", 5])), "HW-4014"],
      [Buffer.from(pack([0, "ack", "x"])), "HW-4014"],
      [Buffer.from(pack([0, "hello", 1, SECRET, null, 0])), "HW-4014"],
    ];
    for (const [bytes, code] of broken) {
      const socket = new RawSocket(t, server.url);
      await socket.hello(randomBytes(24).toString("hex"));
      socket.ws.send(bytes);
      await closedWith(socket, code);
    }
    for (const [version, secret] of [
      [2, SECRET],
      [1, "short"],
      [1, null],
    ]) {
      const socket = new RawSocket(t, server.url);
      await socket.opened;
      socket.say([0, "hello", version, secret, null, 0]);
      await closedWith(socket, "HW-4014");
    }
  });
});

test("arguments that cannot be read cost their request, not the connection", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const socket = new RawSocket(t, server.url);
    await socket.hello(SECRET);
    const list = (...items: number[]) => Buffer.from([0x93, ...pack("attacked"), 1, ...items]);
    const deep = Buffer.concat([
      Buffer.from(list().subarray(0, -1)),
      Buffer.from([1]),
      Buffer.alloc(100_000, 0x91),
      Buffer.from([1]),
    ]);
    const wrong: [args: unknown, code: string][] = [
      [list(0xa1, 0xff), "HW-4007"], // text that is not UTF-8
      [list(0xa3, 0xed, 0xa0, 0x80), "HW-4007"], // half of a surrogate pair
      [list(0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "HW-4007"], // beyond 2^53
      [list(0xd4, 0, 0), "HW-4007"], // an extension type
      [list(0x81, ...pack("__proto__"), 0x80), "HW-4007"],
      [list(0x81, ...pack("constructor"), 0x80), "HW-4007"],
      [list(0x82, ...pack("a"), 1, ...pack("a"), 2), "HW-4007"],
      [list(0x81, 1, 1), "HW-4007"], // the name of a field is a number
      [deep, "HW-4007"],
      [Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]), "HW-4007"],
      [Buffer.concat([Buffer.from(pack(["attacked", 1])), Buffer.from([1])]), "HW-4005"],
      [pack("attacked"), "HW-4005"],
      ["attacked", "HW-4005"],
      [pack(Array(100).fill(1)), "HW-4005"],
    ];
    for (const [i, [args, code]] of wrong.entries()) {
      socket.say([i + 1, "bump", args]);
      const [, ok, error] = await socket.reply(i + 1);
      assert.deepEqual([ok, (error as { code: string }).code], [false, code], `case ${i}`);
    }
    assert.equal(({} as { a?: number }).a, undefined);
  });
});
