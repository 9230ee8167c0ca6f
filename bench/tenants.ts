import { setMaxListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { StreamService } from "headwater/streams";
import { Batch, encodeBatch } from "#src/streams/columns/index.js";
import { percentile } from "./lib/percentile.js";

/**
 * Many small tenants in one process, with a journal on disk: how long registering takes, what they cost while each pushes a row now
 * and then, how long a row takes from its push to its result, and how long until a restarted service answers. Then a few
 * tenants in a service of their own, alone and beside one that pushes as much as it can.
 */
const QUERIES = 10;
const EVENTS_PER_SECOND = 50;
const GOALS = { registerS: 20, rssMb: 1500, cores: 1, p99Ms: 250, restartS: 5, heavyCosts: 1.5 };
/** A tenth of the tenants leaves room for one with much to do. */
const BESIDE_HEAVY = 0.1;
const HEAVY = { rows: 1000, inFlight: 8 };

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
  const beside = await besideHeavy(join(folder, "heavy"), Math.ceil(BESIDE_HEAVY * count), seconds);
  return {
    ...{ registerS, rssMb, cores, restartS },
    events: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    ...beside,
  };
}

/** How long rows of a few tenants take alone, and beside a tenant that pushes as much as its quota allows. */
async function besideHeavy(journal: string, count: number, seconds: number) {
  const service = await StreamService.open({ journal, durability: "written" });
  const names = Array.from({ length: count }, (_, i) => `tenant-${i}`);
  await Promise.all(names.map((name) => registered(service, name)));
  await loaded(service, names, 2);
  const alone = await loaded(service, names, seconds);
  const heavy = await Heavy.begun(service);
  await loaded(service, names, 2);
  heavy.rows = 0;
  const beside = await loaded(service, names, seconds);
  const heavyRowsPerS = heavy.rows / seconds;
  await heavy.end();
  await service.close();
  const [aloneP99Ms, besideP99Ms] = [percentile(alone.latencies, 0.99), percentile(beside.latencies, 0.99)];
  return { aloneP99Ms, besideP99Ms, heavyCosts: besideP99Ms / aloneP99Ms, heavyRowsPerS };
}

async function registered(service: StreamService, name: string): Promise<void> {
  const streams = await service.tenant(name);
  await streams.registerStream("s", { n: "bigint", pushed: "double precision", who: "text" });
  for (let q = 0; q < QUERIES; q++)
    await streams.registerQuery(`q${q}`, `SELECT n, pushed, who FROM s WHERE n % ${QUERIES} >= ${q}`);
}

/** A tenant that pushes as much as it is let. */
class Heavy {
  rows = 0;
  #isOver = false;
  #pushing: Promise<unknown> = Promise.resolve();

  static async begun(service: StreamService): Promise<Heavy> {
    await registered(service, "heavy");
    const streams = await service.tenant("heavy");
    const cells = Array.from({ length: HEAVY.rows }, (_, n) => [n, n, `user ${n % 7}`]);
    const bytes = encodeBatch(Batch.of(streams.schemaOf("s"), cells));
    const heavy = new Heavy();
    const pushing = async () => {
      while (!heavy.#isOver) heavy.rows += (await streams.pushColumns("s", bytes)).rows;
    };
    heavy.#pushing = Promise.all(Array.from({ length: HEAVY.inFlight }, pushing));
    return heavy;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#pushing;
  }
}

/** Every tenant pushes a row now and then; a subscriber of each hears the results of its first query. */
async function loaded(service: StreamService, names: readonly string[], seconds: number) {
  const latencies: number[] = [];
  const over = new AbortController();
  setMaxListeners(0, over.signal);
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
