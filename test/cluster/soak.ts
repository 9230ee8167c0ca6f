/** `npm run soak -- --minutes 30 [--seed N]`: faults of many kinds at once (fault-run.ts) for a long time, cluster after cluster. */

import { parseArgs } from "node:util";
import { Random } from "#src/random.js";
import { NatsServers } from "../nats-servers.js";
import { failWaits } from "../waits.js";
import { FaultRun } from "./fault-run.js";

const ROUND_MS = 120_000;
/** Far longer than any fault stalls a cluster, also on a busy machine. */
const STALLED_MS = 180_000;

const { values } = parseArgs({ options: { minutes: { type: "string" }, seed: { type: "string" } } });
const minutes = Number(values.minutes ?? 30);
const seed = Number(values.seed ?? Date.now() % 100_000);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write("npm run soak -- [--minutes N] [--seed N]\n");
  process.exit(2);
}
const random = new Random(seed);
const end = performance.now() + minutes * 60_000;
const servers = await NatsServers.start();
let transfers = 0;
const faults: Record<string, number> = {};
try {
  // Every second one has hosts in processes of their own.
  for (let round = 1; performance.now() < end; round++) {
    const until = Math.min(end, performance.now() + ROUND_MS);
    const part = new FaultRun(servers, `soak${round}`, random.fork(), round % 2 === 0);
    let [seen, movedAt] = ["", performance.now()];
    const watch = setInterval(() => {
      if (String(part) !== seen) [seen, movedAt] = [String(part), performance.now()];
      else if (performance.now() - movedAt > STALLED_MS) failWaits(`nothing moves in ${part}`);
    }, 1000);
    await part.run(() => performance.now() > until).finally(() => clearInterval(watch));
    transfers += part.acknowledged;
    for (const [kind, count] of Object.entries(part.faults)) faults[kind] = (faults[kind] ?? 0) + count;
    const minute = (minutes - (end - performance.now()) / 60_000).toFixed(1);
    console.log(JSON.stringify({ seed, minute: Number(minute), round, transfers, faults }));
  }
} finally {
  await servers.stop();
}
