import { StreamService } from "headwater/streams";
import { Batch, encodeBatch } from "#src/streams/columns/index.js";

/** Pushes 320 MB into 40 streams of ten tenants, each of which would retain all of it, and prints by how much the process has grown. */
const MB = 2 ** 20;
const TENANTS = 10;
const STREAMS = 4;
const RETAINED = 8 * MB;
const memoryBytes = Number(process.argv[2]) * MB;

const service = await StreamService.open({ memoryBytes });
const tenants = await Promise.all(Array.from({ length: TENANTS }, (_, i) => service.tenant(`tenant-${i}`)));
for (const tenant of tenants)
  for (let i = 0; i < STREAMS; i++)
    await tenant.registerStream(`s${i}`, { n: "bigint", text: "text" }, { retention: { bytes: RETAINED } });

const rows = Array.from({ length: 64 }, (_, n) => [n, `${n} ${"x".repeat(1000)}`]);
const schema = tenants[0]?.schemaOf("s0") ?? [];
const bytes = encodeBatch(Batch.of(schema, rows));
const own = () => {
  globalThis.gc?.();
  return process.memoryUsage.rss();
};

const before = own();
for (let round = 0; round < RETAINED; round += bytes.length)
  for (const tenant of tenants)
    for (let i = 0; i < STREAMS; i++) await tenant.pushColumns(`s${i}`, Buffer.from(bytes));
// Once a second, tenants are measured, and told what they may retain.
const retained = async () => {
  let sum = 0;
  for (const tenant of tenants) {
    await tenant.describe("s0");
    for (const { memoryBytes: held } of tenant.list()) sum += held;
  }
  return sum;
};
while ((await retained()) > 1.2 * memoryBytes) await new Promise((resolve) => setTimeout(resolve, 100));
console.log(Math.round((own() - before) / MB));
await service.close();
