import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal } from "headwater";
import { StreamService, type TenantStreams } from "headwater/streams";
import { Random } from "#src/random.js";

const QUERIES: readonly (readonly [name: string, sql: string, partitions: number])[] = [
  ["groups", "SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k EMIT CHANGES", 1],
  ["divided", "SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k EMIT CHANGES", 3],
  ["pairs", "SELECT a.k, a.v, b.v AS w FROM s a JOIN s b ON a.k = b.k AND a.v < b.v", 1],
  ["top", "SELECT k, v FROM s ORDER BY v DESC, k LIMIT 3 EMIT CHANGES", 1],
];

/** What a service answers for the same rows, with its graph and partitions where `move` takes them between the pushes. */
async function answers(service: StreamService, move: (step: number) => Promise<void>) {
  const streams: TenantStreams = await service.tenant("default");
  await streams.define(
    "CREATE STREAM s (k bigint NOT NULL, v bigint NOT NULL, at timestamp NOT NULL, WATERMARK FOR at AS at)",
  );
  for (const [name, sql, partitions] of QUERIES)
    await streams.registerQuery(name, `${sql} WITH (state_retention = '1 second')`, { partitions });
  const random = new Random(11);
  for (let step = 0, ms = 0; step < 60; step++) {
    const rows = Array.from({ length: 1 + random.int(5) }, () => {
      ms += random.int(150);
      return { k: random.int(6), v: random.int(50), at: new Date(ms).toISOString().slice(0, -1) };
    });
    await streams.pushEvents("s", rows, { producer: "p", sequence: step + 1 });
    await move(step);
  }
  const found: Record<string, string[]> = {};
  for (const [name] of QUERIES) {
    found[name] = [];
    for (let from = 1; ; ) {
      const { rows, next } = await streams.page(name, from);
      if (rows.length === 0) break;
      for (const { weight, json } of rows) found[name]?.push(`${weight} ${json}`);
      from = next;
    }
  }
  return found;
}

test("queries with a retention that migrate between hosts forget the same rows, and give the same numbered results", async (t) => {
  const still = await StreamService.open();
  t.after(() => still.close());
  const expected = await answers(still, async () => {});
  assert.ok(
    expected.groups?.some((line) => line.startsWith("-1")),
    "something was forgotten or replaced",
  );
  const journal = new MemoryJournal();
  const service = await StreamService.open({ journal, hosts: 2 });
  t.after(() => service.close());
  const random = new Random(3);
  const hostsSeen = new Set<string>();
  const given = await answers(service, async () => {
    if (random.chance(0.5)) return;
    const { id } = random.pick(service.hosts.list());
    const parts = ["graph", ...[0, 1, 2].map((i) => `graph.partitions(${i})`)];
    const context = `Streams.tenants("default").${random.pick(parts)}`;
    await service.hosts.move(context, id);
    for (const { context: name, host } of service.hosts.contexts())
      if (name.includes("graph")) hostsSeen.add(String(host));
  });
  assert.ok(hostsSeen.size > 1, "the graph was on several hosts");
  const sorted = (all: typeof given) => ({ ...all, divided: all.divided?.toSorted() });
  assert.deepEqual(sorted(given), sorted(expected));
});
