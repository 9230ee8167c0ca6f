import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, type Cell } from "#src/streams/columns/index.js";
import { standingQuery } from "#src/streams/operators/index.js";
import { planDefinition } from "#src/streams/sql/index.js";
import { refused } from "../refused.js";
import { stream } from "../streams/standing.js";
import { SCHEMA } from "./standing.js";

/** id, i, k, n, f, s, b, d, ts, j */
const row = (s: string): Cell[] => [1, 1, 1, 123_456_789, 2, s, true, 0, 0, "{}"];

/** How many rows come out, and why rows were left out. */
async function ran(sql: string, texts: readonly string[] = ["a"]) {
  const defined = await planDefinition(sql, { t0: SCHEMA });
  assert.ok("plan" in defined);
  const consumer = { rows: (batch: Batch) => void (rows += batch.rows), watermark: () => {} };
  let rows = 0;
  const query = standingQuery(defined.plan, { emit: "changes", inputs: { t0: stream(SCHEMA) } }, consumer);
  query.push("t0", Batch.of(SCHEMA, texts.map(row)));
  query.flush();
  return { rows, why: query.errors.first?.message ?? null };
}

const planned = (sql: string) => planDefinition(sql, { t0: SCHEMA });
const nested = (levels: number, expression: string) =>
  `${`select ${expression} from (`.repeat(levels)}select s, n, ts from t0${") x".repeat(levels)}`;

test("a regular expression that explodes elsewhere takes linear time, and one that needs backtracking is refused", async () => {
  const evil = `${"a".repeat(100_000)}!`;
  assert.deepEqual(await ran("select s ~ '^(a+)+$' as p from t0", [evil]), { rows: 1, why: null });
  assert.deepEqual(await ran("select regexp_replace(s, '(a|a)*b', '', 'g') as p from t0", [evil]), {
    rows: 1,
    why: null,
  });
  for (const pattern of ["(a)\\1", "(?=a)", "(a{1000}){1000}", "a".repeat(1001)])
    assert.match((await ran(`select s ~ '${pattern}' as p from t0`)).why ?? "", /regular expression/);
});

test("LIKE with many wildcards takes linear time", async () => {
  const sql = `select s like '${"%a".repeat(50)}%b' as p from t0`;
  assert.deepEqual(await ran(sql, ["a".repeat(100_000)]), { rows: 1, why: null });
});

test("texts and numbers that grow with every level are refused row by row, and deep ones before they run", async () => {
  assert.match((await ran(nested(40, "s || s as s, n, ts"))).why ?? "", /length too large/);
  assert.match((await ran(nested(40, "replace(s, 'a', 'aaaa') as s, n, ts"))).why ?? "", /length too large/);
  assert.match((await ran("select repeat(s, 1000000000) as p from t0")).why ?? "", /length too large/);
  assert.match((await ran("select lpad(s, 1000000000) as p from t0")).why ?? "", /length too large/);
  assert.match((await ran(nested(40, "s, n, ts + interval '9000000 days' as ts"))).why ?? "", /out of range/);
  assert.match((await ran(nested(40, "s, round(n * n, 0) as n, ts"))).why ?? "", /overflows numeric format/);
  await refused(
    planned(nested(40, "s, n * n as n, ts")),
    "HW-5102",
    "digits behind the point",
    "round(x, 16)",
  );
});

test("deep nesting, long texts and rows in too many windows are refused with their place", async () => {
  for (const sql of [
    `select ${"not ".repeat(5000)}b as p from t0`,
    `select ${"i + ".repeat(5000)}1 as p from t0`,
    nested(500, "s, n, ts"),
  ])
    await refused(planned(sql), "HW-5102", "nested more than", "line 1, column");
  await refused(planned(`select ${"(".repeat(100_000)}i from t0`), "HW-5102", "characters");
  const hop = "hop(t0, ts, interval '1 millisecond', interval '1 day')";
  await refused(planned(`select count(*) from ${hop} group by window_start`), "HW-5102", "longer step");
  await refused(planned("select * from pg_catalog.pg_class"), "HW-5103", "no table pg_catalog.pg_class");
  await refused(planned("select * from pg_class"), "HW-5103", "no table pg_class");
});

test("a list of thousands of values is one condition", async () => {
  const list = Array.from({ length: 10_000 }, (_, i) => i).join();
  assert.deepEqual(await ran(`select s from t0 where i in (${list})`), { rows: 1, why: null });
});

test("names become no code, whatever is in them", async () => {
  const evil = [
    "`];process.exit(7);//",
    "$" + "{process.exit(7)}",
    '"\\u0022);throw 1;//',
    "__proto__",
    "constructor",
  ];
  for (const name of evil) {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    assert.deepEqual(await ran(`select s as ${quoted} from t0 x group by 1`), { rows: 1, why: null });
  }
});
