import { after, before, test } from "node:test";
import { Random } from "#src/random.js";
import { NatsServers } from "../nats-servers.js";
import { FaultRun } from "./fault-run.js";

const FAULTS = Number(process.env.HEADWATER_FAULTS ?? 50);
const FAULTS_OF_HOSTS = Math.round(FAULTS / 5);
const SEED = Number(process.env.HEADWATER_SEED ?? Date.now() % 100_000);

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

for (const [hasHosts, count] of [
  [false, FAULTS - FAULTS_OF_HOSTS],
  [true, FAULTS_OF_HOSTS],
] as const) {
  const what = hasHosts ? "processes with hosts, and hosts," : "heads, standbys, gateways and servers";
  test(`${what} are killed, paused and cut off, and everything has its effect once (seed ${SEED})`, async (t) => {
    const name = hasHosts ? "hosts" : "members";
    const part = new FaultRun(servers, name, new Random(SEED + Number(hasHosts)), hasHosts);
    await part.run((faults) => faults >= count);
    t.diagnostic(`${part.acknowledged} transfers, ${JSON.stringify(part.faults)}`);
  });
}
