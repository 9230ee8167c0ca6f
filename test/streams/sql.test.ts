import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { evaluateQuery, parseQuery, resolveQuery } from "#src/sql/index.js";
import { Batch, type Cell, column, numericText, type Schema } from "#src/streams/columns/index.js";
import { startQuery } from "#src/streams/operators/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import { query, tables } from "../analysis/sql-queries.js";
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
    fc.asyncProperty(query, tables(true), async (written, given) => {
      // Which of equal rows comes first is up to whoever answers.
      const sql = written.replaceAll("order by x.b desc) as n", "order by x.b desc, x.a) as n");
      let found: Cell[][];
      try {
        found = await answer(sql, { r: INTS, s: INTS, t: INTS }, given as Given);
      } catch (error) {
        if (error instanceof HeadwaterError && /HW-510[24]/.test(error.code)) return;
        throw error;
      }
      run++;
      const typed = [
        { name: "a", type: "int8" },
        { name: "b", type: "int8" },
      ] as const;
      const resolved = resolveQuery(await parseQuery(sql), sql, { r: typed, s: typed, t: typed });
      const expected = evaluateQuery(resolved, given, [], (failure) => assert.fail(failure));
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
  ["select count(*) filter (where rate > 1), sum(price) filter (where price < 5) from sales", [[2, "2"]]],
  [
    "select split_part('a/b/c', '/', 2), left('abc', -1), replace(item, 't', 'T'), position('e' in item) from sales limit 1",
    [["b", "ab", "Tea", 2]],
  ],
  [
    "select extract(minute from at), extract(epoch from at), to_char(at, 'YYYY-MM-DD HH24:MI') from sales where item = 'Öl'",
    [["2", "150.000000", "1970-01-01 00:02"]],
  ],
  [
    "select round(2.567, 2), round(2.5), floor(-1.5), ceil(1.2), trunc(-1.7), abs(-2.50) from sales limit 1",
    [["2.57", "3", "-2", "2", "-1", "2.50"]],
  ],
  [
    "select concat(item, price, true), item ilike 'TE%', price is distinct from null from sales where rate = 1.5",
    [["teat", true, false]],
  ],
  [
    "select a.item, b.price from sales a join sales b on a.item = b.item and a.at < b.at where b.price is not null order by a.at",
    [
      ["tea", 9_007_199_254_740_991],
      ["tea", 9_007_199_254_740_991],
    ],
  ],
  [
    "select a.item, b.item from sales a left join sales b on a.price = b.price and a.item <> b.item order by a.at",
    [
      ["tea", null],
      ["tea", null],
      ["ink", null],
      ["Öl", "tea"],
      ["tea", "Öl"],
    ],
  ],
  [
    "select price * 1.5, count(*) from sales where rate <> 2.5 group by 1 order by 1",
    [
      ["10.5", 1],
      ["13510798882111486.5", 2],
      [null, 1],
    ],
  ],
  [
    "select distinct a.price * 0.5 from sales a join sales b on a.price * 0.5 = b.price * 0.5 order by 1",
    [["1.0"], ["3.5"], ["4503599627370495.5"]],
  ],
  [
    "select item from sales where rate < (select avg(rate) from sales) and price in (select price from sales where rate > 0) order by rate",
    [["Öl"], ["tea"]],
  ],
  [
    "select item, price = (select max(price) from sales), price not in (select price from sales where rate < 0) from sales order by rate",
    [
      ["Öl", true, false],
      ["tea", false, true],
      ["tea", true, false],
      ["tea", null, null],
      ["ink", false, true],
    ],
  ],
  [
    "select string_agg(item, '-' order by rate desc), string_agg(distinct item, ',' order by item), array_agg(rate order by at) from sales",
    [["ink-tea-tea-tea-Öl", "ink,tea,Öl", "[0.5, 1.5, 2.5, -1, 1]"]],
  ],
  ["select case item when 'tea' then 1 else 2 end, nullif(price, 2) from sales where rate > 2", [[2, null]]],
];

for (const [sql, rows] of ANSWERS)
  test(sql, async () => {
    assert.deepEqual(await answer(sql, { sales: SALES }, sales), rows);
  });

const REFUSED: [sql: string, message: RegExp][] = [
  [
    "select string_agg(item, ',' order by at) over (order by at) from sales",
    /string_agg\(\) OVER is not run yet/,
  ],
  ["select at - at from sales", /A length of time cannot be a column yet/],
];

test("what does not run yet is refused with its place", async () => {
  for (const [sql, message] of REFUSED)
    await assert.rejects(
      planQuery(sql, { sales: SALES }),
      (error) => error instanceof HeadwaterError && error.code === "HW-5102" && message.test(error.message),
    );
});
