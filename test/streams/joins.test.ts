import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { type Plan, withRetention } from "#src/streams/plan/index.js";
import { planDefinition, planQuery } from "#src/streams/sql/index.js";
import { refused } from "../refused.js";
import { changelog, Multiset, Running, stream } from "./standing.js";

const EVENTS: Schema = [
  column("key", "int", false),
  column("ts", "timestamp", false),
  column("name", "text", false),
];
const TABLES = { a: EVENTS, b: EVENTS };
const INPUTS = { a: stream(EVENTS, 1), b: stream(EVENTS, 1) };

/** Rows of one table, one a millisecond, in ten keys. */
function eventsOf(table: string, count: number): Cell[][] {
  return Array.from({ length: count }, (_, i) => [(i * 7 + table.length) % 10, i, `${table}${i}`]);
}

const JOINS = {
  "inner join":
    "join b on a.key = b.key and b.ts between a.ts - interval '20 ms' and a.ts + interval '30 ms'",
  "left join":
    "left join b on a.key = b.key and b.ts between a.ts - interval '20 ms' and a.ts + interval '30 ms'",
  "full join":
    "full join b on a.key = b.key and b.ts > a.ts - interval '20 ms' and b.ts <= a.ts + interval '30 ms'",
};

for (const [name, join] of Object.entries(JOINS))
  test(`${name}: a join over an interval frees what lies behind the watermarks, and goes on from its checkpoint`, async () => {
    const sql = `select a.name as x, b.name as y from a ${join}`;
    const plan = await planQuery(sql, TABLES);
    const [bounded, whole] = [0, 1].map(() => new Running(plan, { emit: "changes", inputs: INPUTS }));
    assert.ok(bounded !== undefined && whole !== undefined);
    const rows = { a: eventsOf("a", 12_000), b: eventsOf("b", 12_000).filter((_, i) => i % 3 !== 0) };
    let most = 0;
    for (let from = 0; from < 12_000; from += 500) {
      for (const running of [bounded, whole]) {
        for (const table of ["a", "b"] as const) {
          const now = rows[table].filter(([, ts]) => Number(ts) >= from && Number(ts) < from + 500);
          running.push({ table, rows: now, weights: now.map(() => 1) }, EVENTS);
        }
        running.query.flush();
      }
      for (const table of ["a", "b"]) bounded.query.watermark(table, from + 500);
      bounded.query.flush();
      most = Math.max(most, bounded.query.memoryBytes);
      if (from === 6000) bounded.restart();
    }
    assert.deepEqual(bounded.results.rows, whole.results.rows);
    assert.ok(bounded.results.rows.length > 1000);
    assert.ok(4 * most < whole.query.memoryBytes, `${most} of ${whole.query.memoryBytes} bytes`);
  });

const RATES: Schema = [column("key", "int", false), column("rate", "int")];

function temporal(join: "inner" | "left"): Plan {
  const key = { kind: "column", index: 0, type: "int", nullable: false, scale: 0 } as const;
  return {
    kind: "join",
    join,
    isTemporal: true,
    left: { kind: "scan", table: "a", columns: EVENTS },
    right: { kind: "scan", table: "rates", columns: RATES },
    leftKeys: [key],
    rightKeys: [key],
    condition: null,
    columns: [...EVENTS, ...RATES.map((spec) => ({ ...spec, nullable: join === "left" || spec.nullable }))],
  };
}

test("a temporal join gives each row of the stream the table's row of that moment, and nothing when the table changes", () => {
  const expected = new Multiset();
  const inputs = { a: stream(EVENTS, 1), rates: changelog(RATES) };
  const running = new Running(temporal("left"), { emit: "changes", inputs });
  const row = (key: number): Cell[] => [key, key, "n"];
  const push = (table: string, schema: Schema, rows: Cell[][], weights: number[]) => {
    running.query.push(table, Batch.of(schema, rows, weights));
    running.query.flush();
  };
  push("rates", RATES, [[1, 10]], [1]);
  push("a", EVENTS, [row(1), row(2)], [1, 1]);
  expected.put([...row(1), 1, 10]);
  expected.put([...row(2), null, null]);
  push("rates", RATES, [[1, 10], [1, 11], [2, 20]], [-1, 1, 1]); // biome-ignore format: a table
  assert.deepEqual(running.results.rows, expected.rows);
  running.restart();
  push("a", EVENTS, [row(1), row(2)], [1, 1]);
  expected.put([...row(1), 1, 11]);
  expected.put([...row(2), 2, 20]);
  assert.deepEqual(running.results.rows, expected.rows);
});

const windowed = (joined: string) => `with x as (select a.ts, a.key, r.rate from a ${joined})
  select window_end, count(rate) as n from tumble(x, ts, interval '10 ms') group by 1`;

for (const [name, sql, retentionMs] of [
  ["temporal", windowed("join rates for system_time as of proctime() as r on r.key = a.key"), null],
  ["left temporal", windowed("left join rates for system_time as of proctime() as r on r.key = a.key"), null],
  ["retained", windowed("join rates r on r.key = a.key"), 16],
] as const)
  test(`windows over a ${name} join with a table without event time close by the watermark of the stream, also after a restart`, async () => {
    const inputs = { a: stream(EVENTS, 1), rates: changelog(RATES) };
    const planned = await planQuery(sql, { a: EVENTS, rates: RATES });
    const { plan } =
      retentionMs === null
        ? { plan: planned }
        : withRetention(planned, inputs, "on window close", retentionMs);
    const running = new Running(plan, { emit: "on window close", inputs });
    running.push({ table: "rates", rows: [[1, 10]], weights: [1] }, RATES);
    for (let ts = 0; ts < 40; ts++)
      running.push({ table: "a", rows: [[ts % 2, ts, "n"]], weights: [1] }, EVENTS);
    running.query.flush();
    assert.deepEqual(running.emitted, []);
    const given = (watermark: number) => {
      running.query.watermark("a", watermark);
      running.query.flush();
      return running.emitted.splice(0).map(({ row }) => row);
    };
    const delay = retentionMs === null ? 0 : retentionMs + 1;
    assert.deepEqual(given(25 + delay), [[10, 5], [20, 5]]); // biome-ignore format: a table
    running.restart();
    assert.deepEqual(given(31 + delay), [[30, 5]]);
  });

test("a temporal join of rows that are taken back is refused", () => {
  const inputs = { a: changelog(EVENTS), rates: changelog(RATES) };
  assert.throws(
    () => new Running(temporal("inner"), { emit: "changes", inputs }),
    /takes a stream on its left side/,
  );
});

test("FOR SYSTEM_TIME AS OF PROCTIME() is a temporal join, and stands nowhere else", async () => {
  const tables = { a: EVENTS, rates: RATES };
  const version = "FOR SYSTEM_TIME AS OF";
  for (const join of ["join", "left join"] as const) {
    const sql = `select a.key, r.rate from a ${join} rates ${version} PROCTIME() AS r ON a.key = r.key`;
    const defined = await planDefinition(sql, tables);
    assert.ok("plan" in defined);
    const running = new Running(defined.plan, {
      emit: "changes",
      inputs: { a: stream(EVENTS, 1), rates: changelog(RATES) },
    });
    running.push({ table: "rates", rows: [[1, 10]], weights: [1] }, RATES);
    running.push({ table: "a", rows: [[1, 1, "n"], [2, 2, "n"]], weights: [1, 1] }, EVENTS); // biome-ignore format: a table
    running.query.flush();
    running.push({ table: "rates", rows: [[1, 10], [1, 11], [2, 20]], weights: [-1, 1, 1] }, RATES); // biome-ignore format: a table
    running.query.flush();
    const lacking: Cell[][] = join === "join" ? [] : [[2, null]];
    const expected = new Multiset();
    for (const row of [[1, 10], ...lacking]) expected.put(row);
    assert.deepEqual(running.results.rows, expected.rows);
  }
  const on = "ON a.key = rates.key";
  for (const [sql, message] of [
    [`select 1 from a join rates ${version} a.ts ${on}`, "rates has no event time"],
    [`select 1 from rates ${version} PROCTIME()`, "right side of JOIN or LEFT JOIN"],
    [`select 1 from a full join rates ${version} PROCTIME() ${on}`, "right side of JOIN or LEFT JOIN"],
  ] as const)
    await refused(planDefinition(sql, tables), "HW-5102", message);
});
