import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, type TestContext, test } from "node:test";
import { jetstreamManager, StorageType } from "@nats-io/jetstream";
import { run } from "headwater";
import { examineCluster } from "#src/cluster/index.js";
import { NatsServers, type NatsServersOptions } from "../nats-servers.js";
import { refused } from "../refused.js";
import Bank from "./programs/bank.js";

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start({ monitoring: true });
});
after(() => servers.stop());

const monitored = (each: NatsServers) => ({ HEADWATER_NATS_MONITORING: each.monitoring.join(",") });

/** The verdicts that are not good: what they are about, and their codes. */
const bad = (findings: Awaited<ReturnType<typeof examineCluster>>) =>
  findings
    .filter(({ verdict }) => verdict !== "good")
    .map(({ what, verdict, code }) => `${verdict} ${what.replace(/ (at|to)? ?127.*/, "")} ${code}`);

async function alone(t: TestContext, options: NatsServersOptions): Promise<NatsServers> {
  const server = await NatsServers.start({ count: 1, monitoring: true, ...options });
  t.after(() => server.stop());
  return server;
}

test("all is well with three servers that sync each message, before there is a log and after", async () => {
  const address = `${servers.address()}/well`;
  const before = await examineCluster(address, monitored(servers));
  assert.deepEqual(bad(before), []);
  const service = await run(Bank, { journal: address });
  await service.root.transfer(1, 2, 3);
  const after = await examineCluster(address, monitored(servers));
  await service.stop();
  assert.deepEqual(bad(after), []);
  const about = after.map(({ what }) => what).join("\n");
  for (const what of [
    /^server 127/m,
    /^round trip/m,
    /^log HEADWATER_well/m,
    /^clocks/m,
    /^room/m,
    /^sync_interval at/m,
  ])
    assert.match(about, what);
});

test("what cannot be read is said, and so is a server that is not there", async () => {
  const address = `${servers.address()}/unread`;
  assert.deepEqual(bad(await examineCluster(address, {})), ["warning sync_interval HW-3107"]);
  const wrongly = await examineCluster(address, {
    HEADWATER_NATS_MONITORING: "http://127.0.0.1:1,ftp://user:secret@x",
  });
  assert.deepEqual(bad(wrongly), [
    "warning sync_interval HW-3107",
    "warning sync_interval at one of the addresses HW-3107",
  ]);
  assert.doesNotMatch(JSON.stringify(wrongly), /secret/);
  const gone = await examineCluster(`nats://127.0.0.1:1,${servers.hosts()[0]}/x`, monitored(servers));
  assert.deepEqual(bad(gone), ["wrong server HW-3102", "wrong servers HW-3104"]);
});

test("a server that does not sync is warned of, and a log in memory or with too few copies is wrong", async (t) => {
  const lax = await alone(t, { sync: "2m" });
  const address = `${lax.address()}/lax?replicas=1`;
  assert.deepEqual(bad(await examineCluster(address, monitored(lax))), ["warning sync_interval HW-3107"]);
  const three = await examineCluster(`${lax.address()}/lax`, monitored(lax));
  assert.deepEqual(bad(three), ["wrong servers HW-3104", "warning sync_interval HW-3107"]);
  const connection = await lax.connect();
  t.after(() => connection.close());
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: "HEADWATER_lax",
    subjects: ["headwater.lax.log"],
    storage: StorageType.Memory,
  });
  assert.ok(bad(await examineCluster(address, monitored(lax))).includes("wrong log HEADWATER_lax HW-3104"));
});

test("servers that take only small messages are refused, by the doctor and at the start", async (t) => {
  const narrow = await alone(t, { payload: "64KB" });
  const address = `${narrow.address()}/narrow?replicas=1`;
  assert.deepEqual(bad(await examineCluster(address, monitored(narrow))), ["wrong message size HW-3104"]);
  await refused(run(Bank, { journal: address }), "HW-3104");
});

test("an old server is refused, whatever else it says", async (t) => {
  const info = JSON.stringify({
    server_id: "x",
    version: "2.9.10",
    jetstream: true,
    max_payload: 1e6,
    headers: true,
  });
  const old = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(`INFO ${info}\r\n`);
    socket.on("data", (bytes) => bytes.includes("PING") && socket.write("PONG\r\n"));
  }).listen(0, "127.0.0.1");
  t.after(() => old.close());
  await once(old, "listening");
  const { port } = old.address() as { port: number };
  const findings = await examineCluster(`nats://127.0.0.1:${port}/old?replicas=1`, {});
  assert.ok(bad(findings).includes("wrong server HW-3103"), bad(findings).join());
});

test("a clock that is an hour off is refused, by the doctor and at the start", async (t) => {
  const address = `${servers.address()}/clocks`;
  const service = await run(Bank, { journal: address });
  t.after(() => service.stop());
  const now = Date.now;
  t.mock.method(Date, "now", () => now() + 3_600_000);
  assert.deepEqual(bad(await examineCluster(address, monitored(servers))), ["wrong clocks HW-3106"]);
  await refused(run(Bank, { journal: address }), "HW-3106");
});
