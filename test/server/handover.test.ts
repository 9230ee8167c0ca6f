import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { run, type Server, serve } from "headwater";
import { connect } from "headwater/client";
import { DOOR, type Door, type Position } from "#src/model/door.js";
import { Random } from "#src/random.js";
import { RawSocket, Wire } from "./raw.js";
import { api, started, Town, until } from "./town.js";

/** Messages whose connection, or whose server, does not live to see them acknowledged. */

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

test("wherever a connection breaks, each message arrives once and in order, and each request has its effect once", async (t) => {
  const random = new Random(7);
  const { server, client } = await started(t);
  const wire = await Wire.between(t, () => server.port);
  const ada = client({ url: wire.url });
  const heard: unknown[] = [];
  ada.onMessage((message) => heard.push(message));
  ada.onMissed(() => assert.fail("nothing was missed"));
  for (let round = 0; round < 60; round++) {
    // Somewhere in what goes to and fro, be it in the middle of a frame or before its acknowledgement.
    if (round % 2 === 1) wire.cutAfter(random.int(400), random.pick(["near", "far"]));
    await Promise.all([ada.api.tellMe(5), ada.api.tellMe(3), ada.api.bump("ada", 1)]);
  }
  await until(() => heard.length >= 480);
  assert.equal(await ada.api.read("ada"), 60);
  assert.deepEqual(heard, numbers(480));
  assert.ok(wire.connections > 20, `${wire.connections} connections`);
});

test("a message on a connection that breaks as soon as it is written is sent again, and heard once", async (t) => {
  const { server, client } = await started(t);
  const wire = await Wire.between(t, () => server.port);
  const ada = client({ url: wire.url });
  const heard: unknown[] = [];
  ada.onMessage((message) => heard.push(message));
  ada.onMissed(() => assert.fail("nothing was missed"));
  const helper = client();
  for (const i of numbers(20)) {
    await ada.api.whoAmI();
    wire.isDeaf = i % 2 === 0; // the client's acknowledgements get lost, what it is sent does not
    await helper.api.tell(String(ada.session), i);
    await until(() => heard.length === i || i % 2 === 1);
    wire.cut();
    wire.isDeaf = false;
  }
  await until(() => heard.length >= 20);
  assert.equal(await ada.api.bump("ada", 1), 1);
  assert.deepEqual(heard, numbers(20));
});

interface Keeping {
  readonly door: Door;
  readonly kept: Map<string, (readonly [message: unknown, from: Position])[]>;
}

/**
 * A door that keeps messages as a service with a journal does: until they are received, whoever listens or not. What is
 * handed over goes to the one who listens at the moment.
 */
function keeping(door: Door): Keeping {
  const kept: Keeping["kept"] = new Map();
  const listeners = new Map<string, (message: unknown, from: Position) => void>();
  const listen: Door["listen"] = (client, onMessage) => {
    const letters = kept.get(client) ?? [];
    if (!kept.has(client)) {
      kept.set(client, letters);
      door.listen(client, (message, from) => {
        letters.push([message, from]);
        listeners.get(client)?.(message, from);
      });
    }
    listeners.set(client, onMessage);
    for (const [message, from] of letters) onMessage(message, from);
    return {
      isComplete: true,
      received: ({ node, ticket, index }) => {
        const left = letters.filter(
          ([, at]) => at.node !== node || at.ticket > ticket || (at.ticket === ticket && at.index > index),
        );
        letters.splice(0, letters.length, ...left);
      },
      leave: () => listeners.delete(client),
      forget: () => {
        listeners.delete(client);
        kept.delete(client);
      },
    };
  };
  return { door: { ...door, listen }, kept };
}

async function keptTown(t: TestContext) {
  const service = await run(Town);
  t.after(() => service.stop());
  const { door, kept } = keeping(service[DOOR]);
  let port = 0;
  const open = async (): Promise<Server> => {
    const server = await serve({ [DOOR]: door }, api, { port });
    port = server.port;
    t.after(() => server.close());
    return server;
  };
  return { open, kept, service };
}

test("messages that a service has kept reach the client through the next server, once and in order", async (t) => {
  const { open, kept, service } = await keptTown(t);
  let server = await open();
  const wire = await Wire.between(t, () => server.port);
  const ada = connect<typeof api>(wire.url, { backoffMs: 1 });
  t.after(() => ada.close());
  const heard: unknown[] = [];
  ada.onMessage((message) => heard.push(message));
  ada.onMissed(() => assert.fail("nothing was missed"));
  await ada.api.tellMe(3);
  await until(() => [...kept.values()].flat().length === 0);
  wire.isDeaf = true; // the client hears these, and the server never learns of it
  const asked = ada.api.whoAmI();
  await service.root.tell(String(ada.session), "heard by one, not known to the other");
  await until(() => heard.length === 4);
  await server.close({ graceMs: 1 });
  wire.cut();
  await service.root.tell(String(ada.session), "sent while there was no server");
  wire.isDeaf = false;
  server = await open();
  assert.equal(await asked, ada.session);
  await until(() => heard.length >= 5);
  assert.deepEqual(heard, [
    1,
    2,
    3,
    "heard by one, not known to the other",
    "sent while there was no server",
  ]);
  await ada.api.tellMe(2);
  await until(() => heard.length === 7 && [...kept.values()].flat().length === 0);
  assert.deepEqual(heard.slice(5), [4, 5]);
});

test("a client whose session has ended is forgotten by the service, too", async (t) => {
  const { open, kept } = await keptTown(t);
  const server = await open();
  const socket = new RawSocket(t, server.url);
  await socket.hello();
  socket.ask(1, "tellMe", 2);
  await socket.reply(1);
  assert.equal([...kept.values()].flat().length, 2);
  socket.ask(2, "tellMe", 20_000);
  assert.equal((await socket.closed).code, 4016);
  assert.equal(kept.size, 0);
});

test("a program that was started anew counts from the beginning, and its messages are not taken for old ones", async (t) => {
  const first = await started(t);
  let port = first.server.port;
  const wire = await Wire.between(t, () => port);
  const ada = first.client({ url: wire.url });
  const heard: unknown[] = [];
  let missed = 0;
  ada.onMessage((message) => heard.push(message));
  ada.onMissed(() => (missed += 1));
  await ada.api.tellMe(3);
  await ada.api.tellMe(3);
  await until(() => heard.length === 6);
  const second = await started(t);
  port = second.server.port;
  wire.cut();
  await ada.api.tellMe(1);
  await until(() => heard.length === 7);
  assert.deepEqual([heard.at(-1), missed], [1, 1]);
});

test("a request that comes again after it was said to be done ends the connection", async (t) => {
  const { server } = await started(t);
  const socket = new RawSocket(t, server.url);
  await socket.hello();
  socket.ask(1, "bump", "ada", 1);
  await socket.reply(1);
  socket.say([0, "done", 2]);
  socket.ask(1, "bump", "ada", 1);
  assert.equal((await socket.closed).code, 4014);
});

test("an answer that the client has said it has is not kept, and its request not done again; others are kept", async (t) => {
  const { server } = await started(t);
  const first = new RawSocket(t, server.url);
  await first.hello();
  for (const number of [1, 2]) first.ask(number, "bump", "ada", 1);
  await first.reply(2);
  first.say([0, "done", 2]);
  first.ask(3, "read", "ada");
  await first.reply(3);
  first.ws.terminate();
  const second = new RawSocket(t, server.url);
  await second.hello();
  for (const number of [1, 2]) second.ask(number, "bump", "ada", 1);
  const [, ok, error] = await second.reply(1);
  assert.deepEqual([ok, (error as { code: string }).code], [false, "HW-4031"]);
  assert.deepEqual(await second.reply(2), [2, true, 2]);
});
