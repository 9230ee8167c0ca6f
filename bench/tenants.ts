import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { StreamService } from "headwater/streams";
import { percentile } from "./lib/percentile.js";

/**
 * Many small tenants in one process, with a journal on disk: how long registering takes, what they cost while each pushes a row now
 * and then, how long a row takes from its push to its result, and how long until a restarted service answers.
 */
const QUERIES = 10;
const EVENTS_PER_SECOND = 50;
const GOALS = { registerS: 20, rssMb: 1500, cores: 1, p99Ms: 250, restartS: 5 };

export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean" },
      quick: { type: "boolean" },
      tenants: { type: "string" },
      seconds: { type: "string" },
    },
  });
  const tenants = Number(values.tenants ?? (values.quick === true ? 50 : 500));
  const seconds = Number(values.seconds ?? (values.quick === true ? 3 : 20));
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
  try {
    const figures = await measured(folder, tenants, seconds);
    if (values.json === true) console.log(JSON.stringify({ bench: "tenants", tenants, ...figures }));
    else
      for (const [name, value] of Object.entries(figures))
        console.log(`${name.padEnd(12)} ${value.toFixed(2).padStart(10)}  goal ${goalOf(name)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function goalOf(name: string): string {
  const goals: Readonly<Record<string, number>> = GOALS;
  return goals[name] === undefined ? "" : `< ${goals[name]}`;
}

async function measured(folder: string, count: number, seconds: number) {
  const options = { journal: join(folder, "journal"), durability: "written" } as const;
  let service = await StreamService.open(options);
  const names = Array.from({ length: count }, (_, i) => `tenant-${i}`);
  let began = performance.now();
  await Promise.all(names.map((name) => registered(service, name)));
  const registerS = (performance.now() - began) / 1000;
  console.error(`${count * QUERIES} queries of ${count} tenants registered`);
  const { latencies, cores } = await loaded(service, names, seconds);
  const rssMb = process.memoryUsage.rss() / 2 ** 20;
  await service.close();
  began = performance.now();
  service = await StreamService.open(options);
  await (await service.tenant(names[0] ?? "")).page("q0", 1);
  const restartS = (performance.now() - began) / 1000;
  await service.close();
  return {
    ...{ registerS, rssMb, cores, restartS },
    events: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

async function registered(service: StreamService, name: string): Promise<void> {
  const streams = await service.tenant(name);
  await streams.registerStream("s", { n: "bigint", pushed: "double precision", who: "text" });
  for (let q = 0; q < QUERIES; q++)
    await streams.registerQuery(`q${q}`, `SELECT n, pushed, who FROM s WHERE n % ${QUERIES} >= ${q}`);
}

/** Every tenant pushes a row now and then; a subscriber of each hears the results of its first query. */
async function loaded(service: StreamService, names: readonly string[], seconds: number) {
  const latencies: number[] = [];
  const over = new AbortController();
  const subscribed = names.map(async (name) => {
    const streams = await service.tenant(name);
    for await (const { row } of streams.subscribe("q0", { signal: over.signal }))
      latencies.push(performance.now() - Number(row.pushed));
  });
  const cpu = process.cpuUsage();
  const began = performance.now();
  const pushed = names.map(async (name, i) => {
    const streams = await service.tenant(name);
    await sleep((1000 / EVENTS_PER_SECOND) * (i / names.length));
    const waiting: Promise<unknown>[] = [];
    for (let n = 0; performance.now() - began < seconds * 1000; n++) {
      waiting.push(streams.pushEvents("s", [{ n, pushed: performance.now(), who: `user ${n % 7}` }]));
      await sleep(Math.max(0, began + ((n + 1) * 1000) / EVENTS_PER_SECOND - performance.now()));
    }
    await Promise.all(waiting);
  });
  await Promise.all(pushed);
  const elapsedMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  over.abort();
  await Promise.all(subscribed);
  return { latencies, cores: (user + system) / 1000 / elapsedMs };
}
