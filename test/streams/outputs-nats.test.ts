import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { MemoryJournal } from "headwater";
import { openStreams } from "headwater/streams";
import { NatsServers } from "../nats-servers.js";
import { until } from "../waits.js";

let servers: NatsServers;
let nats: NatsConnection;

before(async () => {
  servers = await NatsServers.start({ count: 1 });
  nats = await connect({ servers: servers.hosts()[0] ?? "" });
});

after(async () => {
  await nats?.close();
  await servers?.stop();
});

const options = { outputs: { isPrivateAllowed: true } };

test("rows get into JetStream once each, in order, also when their position was lost", async () => {
  const manager = await jetstreamManager(nats);
  await manager.streams.add({ name: "rows", subjects: ["rows.>"] });
  const journal = new MemoryJournal();
  const target = `jetstream://${servers.hosts()[0]}/rows.s`;
  const streams = await openStreams({ ...options, journal });
  await streams.define("CREATE STREAM s (n bigint)");
  await streams.registerOutput("s", target, { name: "js", batchRows: 4 });
  await streams.pushEvents(
    "s",
    Array.from({ length: 10 }, (_, n) => ({ n })),
  );
  await until(async () => (await streams.outputs.status("js")).lag === 0);
  // The same rows again, as a delivery would send them whose confirmation was lost with a crash.
  await streams.deregisterOutput("js");
  await streams.registerOutput("s", target, { name: "again", from: 1, batchRows: 7 });
  await streams.pushEvents(
    "s",
    Array.from({ length: 5 }, (_, n) => ({ n: 10 + n })),
  );
  await until(async () => (await streams.outputs.status("again")).lag === 0);
  await streams.service.close();
  await manager.consumers.add("rows", { durable_name: "reader", ack_policy: AckPolicy.None });
  const consumer = await jetstream(nats).consumers.get("rows", "reader");
  const stored: number[] = [];
  for await (const message of await consumer.fetch({ max_messages: 15 })) {
    const { number } = message.json<{ number: number }>();
    assert.equal(message.headers?.get("Nats-Msg-Id"), `s:${number}`);
    stored.push(number);
  }
  assert.deepEqual(
    stored,
    Array.from({ length: 15 }, (_, i) => i + 1),
  );
  assert.equal((await manager.streams.info("rows")).state.messages, 15);
});

test("rows get to who listens to a subject, and wait for a server that is away", async () => {
  const heard: number[] = [];
  const subscription = nats.subscribe("plain.s", {
    callback: (_, message) => {
      heard.push(message.json<{ number: number }>().number);
    },
  });
  await nats.flush();
  const streams = await openStreams(options);
  await streams.define("CREATE STREAM s (n bigint)");
  await streams.registerOutput("s", `nats://${servers.hosts()[0]}/plain.s`, { name: "plain" });
  await streams.registerOutput("s", "nats://127.0.0.1:1/plain.s", { name: "away", backoffMs: 1 });
  await streams.pushEvents("s", [{ n: 1 }, { n: 2 }]);
  await until(() => heard.length === 2);
  assert.deepEqual(heard, [1, 2]);
  await until(async () => (await streams.outputs.status("away")).attempts > 1);
  assert.equal((await streams.outputs.status("away")).lag, 2);
  subscription.unsubscribe();
  await streams.service.close();
});
