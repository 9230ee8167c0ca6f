import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { StreamService, type TenantStreams } from "headwater/streams";
import { Random } from "#src/random.js";
import { until } from "../waits.js";

const PARTITIONS = 3;
const SQL = "SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k EMIT CHANGES";

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "headwater-partitions-"));
  t.after(() => rm(made, { recursive: true }));
  return join(made, "journal");
}

/** The same query twice, divided and whole, and a query over the one that is divided. */
async function define(streams: TenantStreams): Promise<void> {
  await streams.define("CREATE STREAM s (k bigint NOT NULL, v bigint NOT NULL)");
  await streams.registerQuery("whole", SQL);
  await streams.registerQuery("divided", SQL, { partitions: PARTITIONS });
  await streams.registerQuery("top", "SELECT max(n) AS n FROM divided EMIT CHANGES");
}

/** Producers that push one batch after the other until they are told to stop, and count what was acknowledged. */
function load(streams: TenantStreams) {
  const taken = { batches: 0, sum: 0 };
  let isOver = false;
  const producer = async (name: number): Promise<void> => {
    const random = new Random(name);
    for (let sequence = 1; !isOver || sequence < 10; sequence++) {
      const rows = Array.from({ length: 5 }, () => ({ k: random.int(20), v: random.int(100) }));
      await streams.pushEvents("s", rows, { producer: `p${name}`, sequence });
      taken.batches++;
      for (const { v } of rows) taken.sum += v;
    }
  };
  const work = Promise.all([0, 1, 2].map(producer));
  return {
    taken,
    stop: async () => {
      isOver = true;
      await work;
    },
  };
}

async function rowsOf(streams: TenantStreams, name: string): Promise<string[]> {
  const all: string[] = [];
  for (let from = 1; ; ) {
    const { rows, next } = await streams.page(name, from);
    if (rows.length === 0) return all.sort();
    for (const { weight, json } of rows) all.push(`${weight} ${json}`);
    from = next;
  }
}

async function check(streams: TenantStreams, sum: number): Promise<void> {
  const divided = await rowsOf(streams, "divided");
  assert.deepEqual(divided, await rowsOf(streams, "whole"));
  let total = 0;
  for (const line of divided) {
    const [, weight, value] = /^(-?\d+) .*"total":(\d+)/.exec(line) ?? [];
    total += Number(weight) * Number(value);
  }
  assert.equal(total, sum);
}

test("partitions migrate between threads under load, and nothing is lost or doubled", async (t) => {
  const journal = await folder(t);
  let service = await StreamService.open({ journal, hosts: 2, durability: "written" });
  t.after(() => service.close());
  const streams = await service.tenant("default");
  await define(streams);
  const work = load(streams);
  const random = new Random(5);
  for (let i = 0; i < 12; i++) {
    const { id } = random.pick(service.hosts.list());
    await service.hosts.move(`Streams.tenants("default").graph.partitions(${random.int(PARTITIONS)})`, id);
  }
  const hosts = new Set(
    service.hosts.contexts().flatMap(({ context, host }) => (context.includes("partitions") ? [host] : [])),
  );
  await work.stop();
  assert.ok(hosts.size > 0);
  await check(streams, work.taken.sum);
  await service.close();
  service = await StreamService.open({ journal });
  await check(await service.tenant("default"), work.taken.sum);
});

test("hosts of partitions are killed under load, and nothing is lost or doubled", async (t) => {
  const journal = await folder(t);
  const service = await StreamService.open({
    journal,
    hosts: 2,
    hostsAs: "processes",
    durability: "written",
  });
  t.after(() => service.close());
  const streams = await service.tenant("default");
  await define(streams);
  const work = load(streams);
  for (let round = 0; round < 3; round++) {
    const before = work.taken.batches;
    await until(() => work.taken.batches > before + 20);
    const pids = children();
    process.kill(pids[round % pids.length] as number, "SIGKILL");
  }
  const before = work.taken.batches;
  await until(() => work.taken.batches > before + 20);
  await work.stop();
  assert.ok(service.hosts.list().some(({ restarts }) => restarts > 0));
  await check(streams, work.taken.sum);
});

/** The processes of hosts that this process has started. */
function children(): number[] {
  const text = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  const isHost = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("host-process");
  return text.trim().split(" ").map(Number).filter(isHost);
}
