import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { after, before, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { MemoryJournal } from "headwater";
import { openStreams } from "headwater/streams";
import { NatsServers } from "../nats-servers.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";

let servers: NatsServers;
let nats: NatsConnection;

before(async () => {
  servers = await NatsServers.start({ count: 1 });
  nats = await servers.connect();
});

after(async () => {
  await nats?.close();
  await servers?.stop();
});

type Streams = Awaited<ReturnType<typeof openStreams>>;
const options = { outputs: { isPrivateAllowed: true, isListeningAllowed: true } };

async function valuesOf(streams: Streams): Promise<unknown[]> {
  const { batches } = await streams.query("SELECT n FROM s");
  return batches.flatMap((batch) => Array.from({ length: batch.rows }, (_, i) => batch.cell(i, 0)));
}

async function errorsOf(streams: Streams, name: string): Promise<unknown[]> {
  return (await streams.page(`${name}_errors`, 1)).rows.map(({ json }) => JSON.parse(json) as unknown);
}

test("each message of a JetStream stream is taken once, over restarts and a killed server, and bad records are kept apart", async () => {
  const manager = await jetstreamManager(nats);
  await manager.streams.add({ name: "in", subjects: ["in.>"] });
  const publish = async (text: string) => void (await jetstream(nats).publish("in.s", text));
  const journal = new MemoryJournal();
  let streams = await openStreams({ ...options, journal });
  await streams.define("CREATE STREAM s (n bigint)");
  await publish('{"n":1}\n{"n":2}');
  await streams.registerSource("s", `jetstream://${servers.hosts()[0]}/in`, { name: "js" });
  await publish('{"n":3}\n{"n":"x"}\n{"n":4}');
  await publish("nonsense");
  await until(async () => (await streams.sources.status("js")).position === 3);
  for (let round = 0; round < 3; round++) {
    await streams.service.close();
    await publish(`{"n":${10 + 2 * round}}`);
    streams = await openStreams({ ...options, journal });
    await publish(`{"n":${11 + 2 * round}}`);
    await until(async () => (await streams.sources.status("js")).position === 5 + 2 * round);
  }
  await servers.signal(0, "SIGKILL");
  await until(async () => (await streams.sources.status("js")).lastError !== null);
  servers.resume(0);
  await until(() =>
    publish('{"n":99}').then(
      () => true,
      () => false,
    ),
  );
  await until(async () => (await valuesOf(streams)).includes(99));
  const values = (await valuesOf(streams)).filter((value) => value !== 99);
  assert.deepEqual(values, [1, 2, 3, 4, 10, 11, 12, 13, 14, 15]);
  const [wrong, nonsense] = (await errorsOf(streams, "js")) as {
    place: string;
    record: string;
    message: string;
  }[];
  assert.deepEqual([wrong?.place, wrong?.record], ["sequence 2", '{"n":"x"}']);
  assert.deepEqual([nonsense?.place, nonsense?.record], ["sequence 3", "nonsense"]);
  assert.equal((await streams.sources.status("js")).errors, 2);
  await streams.deregisterSource("js");
  await streams.service.close();
});

test("messages of a plain subject are taken while the source listens", async (t) => {
  const streams = await openStreams(options);
  t.after(() => streams.service.close());
  await streams.define("CREATE STREAM s (n bigint)");
  await streams.registerSource("s", `nats://${servers.hosts()[0]}/live.*`, { name: "live" });
  let n = 0;
  await until(async () => {
    nats.publish("live.x", `{"n":${n++}}`); // until it listens, messages are lost: at most once
    await nats.flush();
    return (await valuesOf(streams)).length > 3;
  });
  const values = (await valuesOf(streams)) as number[];
  assert.deepEqual(
    values,
    [...new Set(values)].sort((a, b) => a - b),
  );
});

test("a TCP port takes lines, says how many are kept, and goes on behind a bad one", async (t) => {
  const streams = await openStreams(options);
  t.after(() => streams.service.close());
  await streams.define("CREATE STREAM s (n bigint)");
  await streams.registerSource("s", "tcp://127.0.0.1:0", { name: "tcp" });
  const { port } = await streams.sources.status("tcp");
  const socket = connectTcp(port ?? 0, "127.0.0.1");
  let heard = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    heard += text;
  });
  socket.write('{"n":1}\n{"n":2}\nwhat\n{"n"');
  await until(() => heard.includes("3\n"));
  socket.end(":4}");
  await once(socket, "close");
  assert.deepEqual(heard.trim().split("\n").at(-1), "4");
  assert.deepEqual(await valuesOf(streams), [1, 2, 4]);
  assert.equal((await errorsOf(streams, "tcp")).length, 1);
});

test("sources that are not allowed or make no sense are refused, and leave nothing behind", async (t) => {
  const strict = await openStreams();
  t.after(() => strict.service.close());
  await strict.define("CREATE STREAM s (n bigint)");
  for (const from of ["tcp://127.0.0.1:0", "nats://127.0.0.1:4222/a", "jetstream://localhost/in"])
    await refused(strict.registerSource("s", from), "HW-5502");
  for (const from of [
    "http://example.com",
    "nats://u:p@example.com/a",
    "nats://example.com/",
    "jetstream://example.com/a.b",
  ])
    await refused(strict.registerSource("s", from), "HW-5501");
  await refused(strict.registerSource("nothing", "nats://example.com/a"), "HW-5401");
  await refused(strict.deregisterSource("nothing"), "HW-5503");
  assert.deepEqual([await strict.sources.list(), strict.list().map(({ name }) => name)], [[], ["s"]]);
});
