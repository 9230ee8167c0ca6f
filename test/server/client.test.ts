import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { HeadwaterError } from "headwater";
import { connect } from "headwater/client";
import { WebSocket, WebSocketServer } from "ws";
import { pack } from "#src/protocol/frames.js";
import { Unpacker } from "#src/protocol/unpack.js";
import { refused, refusedAtOnce } from "../refused.js";
import { Wire } from "./raw.js";
import { type api, gates, started, until } from "./town.js";

/** The typed client: what it promises to the code that uses it. */

test("a client calls the program's functions, many at a time, and each reply finds its request", async (t) => {
  const { client: connected } = await started(t);
  const { api: town } = connected();
  const counts = await Promise.all(Array.from({ length: 3000 }, (_, i) => town.bump(`counter ${i % 3}`, 1)));
  assert.deepEqual(
    counts,
    Array.from({ length: 3000 }, (_, i) => Math.floor(i / 3) + 1),
  );
});

test("a request that takes long does not hold up those behind it", async (t) => {
  const { api: town } = (await started(t)).client();
  const slow = town.bumpBehind("slow", "client holds");
  await gates.reached("client holds");
  assert.equal(await town.bump("quick", 1), 1);
  gates.open("client holds");
  assert.equal(await slow, 1);
});

test("plain data of every kind arrives as it was", async (t) => {
  const { api: town } = (await started(t)).client();
  const values: unknown[] = [
    undefined,
    null,
    [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -(2 ** 40), 2 ** 53 - 1],
    "zwölf 🎲",
    "",
    { nested: [{ deep: { er: [undefined] } }], empty: {}, "": 0 },
    new Map<unknown, unknown>([
      ["a", new Set([1, "1"])],
      [{ k: 1 }, new Date(12345)],
    ]),
    -(2n ** 100n),
    new Uint8Array([0, 255]),
    new Float64Array([1.5, Number.NaN]),
    new Uint8Array([1, 2]).buffer,
    { $set: [1] },
    { $plain: { $date: "x" } },
    { $a: 1, $b: 2 },
    "\ud800",
    { a: "x\udc00", "\udc00": 1, "\udc01": 2 },
  ];
  for (const value of values) {
    const echoed = await town.echo(value);
    assert.deepEqual(echoed, value);
    if (value instanceof Float64Array) assert.ok(echoed instanceof Float64Array);
  }
  assert.ok(Object.is(await town.echo(-0), -0));
  assert.equal(String(await town.echo(new Date(Number.NaN))), "Invalid Date");
});

test("an argument that is not plain data is refused before it is sent, and the connection goes on", async (t) => {
  const { api: town } = (await started(t)).client();
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const wrong = [() => {}, Symbol("x"), new (class Door {})(), cyclic, Promise.resolve()];
  for (const value of wrong) await refused(town.echo(value), "HW-4007");
  for (const name of ["__proto__", "constructor", "prototype"]) {
    await refused(town.echo(JSON.parse(`{"${name}": 1}`)), "HW-4007", name);
  }
  assert.equal(await town.echo(1), 1);
});

test("what the application throws arrives under its name, with its text and fields, and without its stack", async (t) => {
  const { api: town } = (await started(t)).client();
  await assert.rejects(town.bump("ada", -5), (error: Error & { by?: unknown }) => {
    assert.equal(error.name, "RangeError");
    assert.equal(error.message, "ada only counts up");
    assert.equal(error.by, -5);
    assert.ok(!error.stack?.includes("town.ts"), "where the program is, is nobody's business");
    return true;
  });
});

test("an error of Headwater arrives with its code", async (t) => {
  const { api: town } = (await started(t)).client();
  const key = {} as unknown as string;
  await assert.rejects(
    town.read(key),
    (error) => error instanceof HeadwaterError && error.code === "HW-1015",
  );
});

test("the session is what events see as their caller, and messages to it find the client, in order", async (t) => {
  const { client } = await started(t);
  const [ada, bob] = [client(), client()];
  const heard: unknown[] = [];
  const stop = ada.onMessage((message) => heard.push(message));
  bob.onMessage(() => assert.fail("bob was not meant"));
  assert.equal(await ada.api.whoAmI(), ada.session);
  await ada.api.tellMe(5000);
  await until(() => heard.length >= 5000);
  assert.deepEqual(
    heard,
    Array.from({ length: 5000 }, (_, i) => i + 1),
  );
  stop();
  await bob.api.tell(String(ada.session), { late: true });
  await ada.api.whoAmI();
  assert.equal(heard.length, 5000);
});

test("requests without an answer when the connection breaks are sent again and have their effect once", async (t) => {
  const { server, client } = await started(t);
  const wire = await Wire.between(t, () => server.port);
  const { api: town } = client({ url: wire.url });
  assert.equal(await town.bump("ada", 1), 1);
  wire.isMute = true; // what is asked from now on is done, but its answer is lost
  const asked = Array.from({ length: 100 }, () => town.bump("ada", 1));
  const { api: watcher } = client();
  while ((await watcher.read("ada")) < 101);
  wire.isMute = false;
  wire.cut();
  const answers = await Promise.all(asked);
  assert.deepEqual(
    answers,
    Array.from({ length: 100 }, (_, i) => i + 2),
  );
  assert.equal(wire.connections, 2);
  assert.equal(await watcher.read("ada"), 101);
});

test("a request under way when the connection breaks is answered over the next one", async (t) => {
  const { server, client } = await started(t);
  const wire = await Wire.between(t, () => server.port);
  const { api: town } = client({ url: wire.url });
  const answer = town.bumpBehind("ada", "reconnects");
  await gates.reached("reconnects");
  wire.cut();
  await until(() => wire.connections === 2);
  await town.read("bob");
  gates.open("reconnects");
  assert.equal(await answer, 1);
  assert.equal(gates.visits("reconnects"), 1);
});

test("a server that answers nothing is given up and tried again", async (t) => {
  const { server, client } = await started(t, { limits: { pingMs: 20 } });
  const wire = await Wire.between(t, () => server.port);
  const { api: town } = client({ url: wire.url });
  await town.bump("ada", 1);
  wire.isMute = true;
  await until(() => wire.connections > 1);
  wire.isMute = false;
  wire.cut();
  assert.equal(await town.bump("ada", 1), 2);
});

/** A server that does nothing but what the test wants, to see what the client does. */
async function bareServer(t: TestContext, greeting: readonly unknown[][]) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const heard: unknown[][] = [];
  const terms = { session: "x", resumed: false, inFlight: 2, bytes: 1000, pingMs: 10_000 };
  server.on("connection", (ws) => {
    ws.send(Buffer.concat([[0, "welcome", terms], ...greeting].map(pack)));
    ws.on("message", (frame: Buffer) => {
      const unpacker = new Unpacker(frame, 10, true);
      while (!unpacker.isDone) heard.push(unpacker.next() as unknown[]);
    });
  });
  const client = connect<typeof api>(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => {
    client.close();
    server.close();
  });
  const say = (...messages: unknown[][]) => {
    for (const ws of server.clients) ws.send(Buffer.concat(messages.map(pack)));
  };
  return { client, heard, say };
}

test("a message that a server sends twice is heard once, and acknowledged", async (t) => {
  const messages = [1, 2, 2, 1, 3].map((sequence) => [0, "message", sequence, "Town", sequence, 0, sequence]);
  const { client, heard } = await bareServer(t, messages);
  const told: unknown[] = [];
  client.onMessage((message) => told.push(message));
  await until(() => heard.some(([, what]) => what === "ack"));
  assert.deepEqual(told, [1, 2, 3]);
  assert.deepEqual(heard.at(-1), [0, "ack", 3]);
});

test("a client has no more requests under way than the server allows", async (t) => {
  const { client, heard, say } = await bareServer(t, []);
  const answers = Promise.all(Array.from({ length: 5 }, (_, i) => client.api.echo(i)));
  const asked = () => heard.flatMap(([id]) => (Number(id) > 0 ? [id] : []));
  await until(() => asked().length > 0);
  assert.deepEqual(asked(), [1, 2]);
  say([2, true, "second"]);
  await until(() => asked().length > 2);
  assert.deepEqual(asked(), [1, 2, 3]);
  say([1, true, "first"], [3, true, "third"]);
  await until(() => asked().length > 3);
  say([5, true, "fifth"], [4, true, "fourth"]);
  assert.deepEqual(await answers, ["first", "second", "third", "fourth", "fifth"]);
});

test("a client says which answers nobody needs to remember any more", async (t) => {
  const { client, heard, say } = await bareServer(t, []);
  const first = client.api.echo(1);
  const second = client.api.echo(2);
  await until(() => heard.some(([id]) => id === 2));
  say([2, true, "second"]);
  await second;
  const third = client.api.echo(3);
  await until(() => heard.some(([id]) => id === 3));
  assert.ok(!heard.some(([, what]) => what === "done"), "the first is still to be answered");
  say([1, true, "first"]);
  await first;
  void client.api.echo(4).catch(() => {});
  await until(() => heard.some(([, what]) => what === "done"));
  assert.deepEqual(
    heard.filter(([, what]) => what === "done"),
    [[0, "done", 3]],
  );
  third.catch(() => {});
});

test("a request that is not answered in time says that its fate is not known, one that was never sent that it was not done", async (t) => {
  const { client } = await started(t);
  const hasty = client({ timeoutMs: 30 });
  await until(() => hasty.state === "open");
  const late = hasty.api.bumpBehind("ada", "too late");
  await refused(late, "HW-4017", "bumpBehind", "30 ms");
  gates.open("too late");
  const nowhere = connect<typeof api>("http://127.0.0.1:9", { timeoutMs: 30, backoffMs: 1 });
  await refused(nowhere.api.whoAmI(), "HW-4023");
  assert.equal(nowhere.state, "connecting");
  nowhere.close();
});

test("a closed client refuses what is open and what comes", async (t) => {
  const { client } = await started(t);
  const connected = client();
  await connected.api.whoAmI();
  assert.equal(connected.state, "open");
  const open = connected.api.bumpBehind("ada", "closed");
  await gates.reached("closed");
  connected.close();
  await refused(open, "HW-4018");
  await refused(connected.api.whoAmI(), "HW-4018");
  assert.equal(connected.state, "closed");
  assert.equal(await connected.closed, null);
  gates.open("closed");
});

test("an address that is none, or that holds a secret, is refused without repeating it", () => {
  refusedAtOnce(() => connect("ftp://example.org"), "HW-4018");
  refusedAtOnce(() => connect("nonsense"), "HW-4018");
  for (const url of ["http://me:s3cret@example.org", "http://example.org/?token=s3cret"]) {
    assert.throws(
      () => connect(url),
      (error: HeadwaterError) => {
        assert.equal(error.code, "HW-4018");
        assert.ok(!error.message.includes("s3cret"));
        return true;
      },
    );
  }
});

test("more requests than the server lets be under way wait in the client, up to its own limit", async (t) => {
  const { client } = await started(t, { limits: { inFlight: 4 } });
  const { api: town } = client({ unanswered: 10 });
  const asked = Array.from({ length: 10 }, () => town.bumpBehind("ada", "credit"));
  await refused(town.whoAmI(), "HW-4022", "whoAmI");
  await gates.reached("credit");
  gates.open("credit");
  assert.deepEqual(
    (await Promise.all(asked)).toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

test("a request larger than the server takes is refused before it is sent", async (t) => {
  const { client } = await started(t, { limits: { bodyBytes: 1000 } });
  const { api: town } = client();
  await refused(town.echo("x".repeat(1000)), "HW-4006", "echo");
  assert.equal(await town.echo("y"), "y");
});

test("the WebSocket class can be chosen", async (t) => {
  const { client } = await started(t);
  let made = 0;
  class Counted extends WebSocket {
    constructor(url: string) {
      super(url);
      made += 1;
    }
  }
  const { api: town } = client({ WebSocket: Counted as never });
  assert.equal(await town.echo(1), 1);
  assert.equal(made, 1);
});
