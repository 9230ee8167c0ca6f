import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { queryFunction } from "headwater/analysis";
import { Batch, type Cell, column, numericText, type Schema } from "#src/streams/columns/index.js";
import { startQuery } from "#src/streams/operators/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import { COLUMNS, query, tables } from "../analysis/sql-queries.js";
import fc from "../properties.js";
import { contents } from "./batches.js";

type Given = Readonly<Record<string, readonly Readonly<Record<string, Cell>>[]>>;

async function answer(
  sql: string,
  schemas: Readonly<Record<string, Schema>>,
  given: Given,
): Promise<Cell[][]> {
  const plan = await planQuery(sql, schemas);
  const rows: Cell[][] = [];
  const running = startQuery(plan, (batch) => {
    for (const row of contents(batch).rows)
      rows.push(
        row.map((cell, i) => {
          const spec = plan.columns[i];
          return spec?.type === "numeric" && cell !== null
            ? numericText(cell as number | bigint, spec.scale)
            : cell;
        }),
      );
  });
  for (const [name, schema] of Object.entries(schemas))
    running.push(
      name,
      Batch.of(
        schema,
        (given[name] ?? []).map((row) => schema.map((spec) => row[spec.name] ?? null)),
      ),
    );
  running.end();
  assert.equal(running.errors.first, null);
  return rows;
}

const INTS: Schema = [column("a", "int"), column("b", "int")];

/** An exact decimal of 16 digits and a double are the same if they are near. */
function near(rows: readonly (readonly unknown[])[]): string[] {
  return rows
    .map((row) => row.map((cell) => (cell === null ? "null" : Number(cell).toFixed(9))).join())
    .sort();
}

test("random queries answer what the naive evaluator of the analysis answers, where they are run", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(query, tables(true), async (sql, given) => {
      let found: Cell[][];
      try {
        found = await answer(sql, { r: INTS, s: INTS, t: INTS }, given as Given);
      } catch (error) {
        if (error instanceof HeadwaterError && error.code === "HW-5102") return;
        throw error;
      }
      run++;
      const expected = (await queryFunction(sql, COLUMNS))(given);
      assert.deepEqual(near(found), near(expected), sql);
    }),
    { numRuns: 600 },
  );
  assert.ok(run > 100, `${run} queries ran`);
});

const SALES: Schema = [
  column("item", "text", false),
  column("price", "int"),
  column("rate", "float", false),
  column("at", "timestamp", false),
];
const sales: Given = {
  sales: [
    { item: "tea", price: 7, rate: 0.5, at: 0 },
    { item: "tea", price: null, rate: 1.5, at: 59_999 },
    { item: "ink", price: 2, rate: 2.5, at: 60_000 },
    { item: "Öl", price: 9_007_199_254_740_991, rate: -1, at: 150_000 },
    { item: "tea", price: 9_007_199_254_740_991, rate: 1, at: 160_000 },
  ],
};

/** Answers that PostgreSQL 17 gives. */
const ANSWERS: [sql: string, rows: Cell[][]][] = [
  [
    "select 7 / 2, 7 / 2.0, -7 / 2, -7 % 2, 0.1 + 0.2, 1.50 * 2 from sales limit 1",
    [[3, "3.5000000000000000", -3, -1, "0.3", "3.00"]],
  ],
  ["select sum(price), avg(rate), count(price), count(*) from sales", [["18014398509481991", 0.9, 4, 5]]],
  [
    "select item, sum(price) from sales group by item order by item",
    [
      ["ink", "2"],
      ["tea", "9007199254740998"],
      ["Öl", "9007199254740991"],
    ],
  ],
  ["select max(price), min(item), max(rate) from sales where false", [[null, null, null]]],
  [
    "select item from sales where price > 5 or price is null order by rate desc",
    [["tea"], ["tea"], ["tea"], ["Öl"]],
  ],
  ["select item from sales where not (price > 5)", [["ink"]]],
  ["select item from sales where item like 't_a' and rate between 0.5 and 1", [["tea"], ["tea"]]],
  ["select distinct item from sales order by 1 desc", [["Öl"], ["tea"], ["ink"]]],
  [
    "select case when price > 5 then 'much' when price is null then '?' end from sales order by rate limit 3",
    [["much"], ["much"], ["much"]],
  ],
  [
    "select coalesce(price, -1), greatest(price, 3) from sales where rate > 1",
    [
      [-1, 3],
      [2, 3],
    ],
  ],
  ["select rate::int, price::text, '12'::int + 1 from sales where item = 'ink'", [[2, "2", 13]]],
  [
    "select window_start, count(*) from tumble(sales, at, interval '1 minute') group by 1 order by 1",
    [
      [0, 2],
      [60_000, 1],
      [120_000, 2],
    ],
  ],
  [
    "select window_end, sum(rate) from hop(sales, at, interval '1 minute', interval '2 minutes') where item = 'tea' group by 1 order by 1",
    [
      [60_000, 2],
      [120_000, 2],
      [180_000, 1],
      [240_000, 1],
    ],
  ],
  [
    "select window_start, window_end, count(*) from session(sales, at, item, interval '1 minute') group by 1, 2, item order by 1, 3",
    [
      [0, 119_999, 2],
      [60_000, 120_000, 1],
      [150_000, 210_000, 1],
      [160_000, 220_000, 1],
    ],
  ],
  ["select at + interval '1 hour' from sales where at < timestamp '1970-01-01 00:00:30'", [[3_600_000]]],
  [
    "select n, count(*) from (select item, count(*) as n from sales group by item) t group by n order by n",
    [
      [1, 2],
      [3, 1],
    ],
  ],
  ["select item from sales where at >= '1970-01-01 00:02:00' and rate > '0'", [["tea"]]],
  [
    "select price from sales where rate < 0 union all select length(item) from sales where rate < 0",
    [[9_007_199_254_740_991], [2]],
  ],
  ["select item from sales order by rate limit 1 offset 1", [["tea"]]],
  ["select item || ' ' || price from sales where rate = 2.5", [["ink 2"]]],
];

for (const [sql, rows] of ANSWERS)
  test(sql, async () => {
    assert.deepEqual(await answer(sql, { sales: SALES }, sales), rows);
  });

const REFUSED: [sql: string, message: RegExp][] = [
  ["select item + 1 from sales", /There is no text \+ int/],
  ["select item from sales where price", /A condition is true or false; this is int/],
  [
    "select count(*) from tumble(sales, price, interval '1 minute') group by window_start",
    /The time of a window is a timestamp, and price is int/,
  ],
  ["select sum(item) from sales", /sum\(\) takes numbers, not text/],
  ["select case when true then 1 else item end from sales", /different types: int, text/],
  [
    "select price from sales union all select item from sales",
    /UNION have different types in their column 1/,
  ],
  ["select item from sales where at > 'yesterday'", /'yesterday' is not a time/],
];

test("what has no meaning, or does not run yet, is refused with its place", async () => {
  for (const [sql, message] of REFUSED)
    await assert.rejects(
      planQuery(sql, { sales: SALES }),
      (error) => error instanceof HeadwaterError && error.code === "HW-5102" && message.test(error.message),
    );
});
