import { after, before, test } from "node:test";
import { Random } from "#src/random.js";
import { NatsServers } from "../nats-servers.js";
import { FaultRun } from "./fault-run.js";

const FAULTS = Number(process.env.HEADWATER_FAULTS ?? 50);
const SEED = Number(process.env.HEADWATER_SEED ?? Date.now() % 100_000);

let servers: NatsServers;
before(async () => {
  servers = await NatsServers.start();
});
after(() => servers.stop());

test(`processes and servers are killed, paused and cut off, and every transfer has its effect once (seed ${SEED})`, async (t) => {
  const faults = new FaultRun(servers, "faults", new Random(SEED));
  await faults.run((count) => count >= FAULTS);
  t.diagnostic(`${faults.acknowledged} transfers, ${JSON.stringify(faults.faults)}`);
});
