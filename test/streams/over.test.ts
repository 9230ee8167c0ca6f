import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { Multiset, Running, stream } from "./standing.js";
import { checkStanding, evaluatorOf, words } from "./standing-sql.js";

const SCHEMA: Schema = [
  column("k", "int"),
  column("v", "int"),
  column("d", "numeric", true, 2),
  column("s", "text"),
  column("f", "float"),
];
const cell = (...values: Cell[]) => fc.constantFrom<Cell>(...values, null);
const row = fc.tuple(
  cell(0, 1, 2),
  cell(0, 1, 2, 3, 50),
  cell(100, 250, 2n ** 60n, -5),
  cell("", "a", "b", "ab"),
  cell(0.5, 1.5, 8, -2),
);

const key = fc.constantFrom("k", "s", "k, s", "v % 2", "k + 1");
const sort = fc.constantFrom(
  "v",
  "v desc",
  "d",
  "d desc nulls last",
  "s, v",
  "f desc",
  "v + k",
  "s nulls first",
);
const all = fc.constantFrom("k, v, d, s, f");
const count = fc.constantFrom("1", "2", "3");
const frame = fc.constantFrom(
  "",
  " rows between 1 preceding and current row",
  " rows between unbounded preceding and unbounded following",
  " rows between 2 preceding and 1 preceding",
  " rows between current row and 1 following",
  " range between current row and unbounded following",
);
/** Functions whose values do not depend on the order among rows that agree in every sorted column. */
const called = fc.constantFrom(
  ...["row_number()", "rank()", "dense_rank()", "lag(v)", "lead(s, 2)", "lag(v, 1, -5)", "lag(d, 1, 0.5)"],
  ...["first_value(d)", "last_value(s)", "count(*)", "count(v)", "sum(v)", "sum(d)", "sum(f)", "max(s)"],
  ...["min(d)", "round(avg(v), 3)", "avg(f)", "bool_or(v > 1)", "count(*) filter (where v > 1)"],
);
// A whole row decides the order, so that equal rows are all that is not told apart.
const total = fc.constantFrom("k, v, d, s, f", "v desc, k, d nulls first, s, f", "f, s desc, d, k, v");

const sql = fc.oneof(
  words`select ${all}, n from (select *, row_number() over (partition by ${key} order by ${total}) as n from r) x where n <= ${count}`,
  words`select ${all} from (select *, row_number() over (partition by ${key} order by ${total}) as n from r) x where ${fc.constantFrom("n = 1", "n < 3", "2 >= n", "n between 1 and 2", "n <= 2 and v > 0")}`,
  words`select ${all}, n from (select *, ${fc.constantFrom("rank", "dense_rank")}() over (partition by ${key} order by ${sort}) as n from r) x where n <= ${count}`,
  words`select distinct on (${fc.constantFrom("k", "s")}) ${all} from r order by ${fc.constantFrom("k, s", "s, k")}, v, d, f`.map(
    (text) =>
      text.replace(
        /on \((.)\) (.*) order by ., ./,
        (_, on, rest) => `on (${on}) ${rest} order by ${on === "k" ? "k, s" : "s, k"}`,
      ),
  ),
  words`select ${all} from r order by ${total} limit ${fc.constantFrom("0", "1", "3")} offset ${fc.constantFrom("0", "1", "2")}`,
  words`select k, sum(v) as t from r group by k order by t desc nulls last, k limit 2`,
  words`select ${all}, ${called.map((each) => each.replace(/^(round\()?(.*?\))( filter.*|, 3\))?$/, (_, open = "", call, rest = "") => `${open}${call}${rest.startsWith(" filter") ? rest : ""} over (partition by k order by k, v, d, s, f)${rest.startsWith(",") ? rest : ""}`))} as p from r`,
  words`select ${all}, ${fc.constantFrom("sum(v)", "count(*)", "first_value(s)", "last_value(d)", "max(f)")} over (partition by ${key} order by ${total}${frame}) as p from r`,
  words`select ${all}, sum(v) over (partition by s) as p, rank() over (order by ${sort}) as q from r`,
  words`select k, n, rank() over (order by n desc, k) as p from (select k, count(*) as n from r group by k) x`,
);

for (const kind of ["stream", "changelog"] as const)
  test(`OVER, top-n, DISTINCT ON and LIMIT over a ${kind} answer what the evaluator answers, after every round`, async () => {
    await checkStanding(sql, { r: { schema: SCHEMA, row, kind } }, 350);
  });

const BIDS: Schema = [column("a", "int", false), column("p", "int", false), column("at", "timestamp", false)];
const WINDOWED = `select a, p, window_start, n from (select *, row_number() over (partition by window_start order by p desc, a, at) as n
  from tumble(bids, at, interval '10 milliseconds')) x where n <= 2`;
const bid = fc.tuple(
  fc.constantFrom(1, 2, 3),
  fc.integer({ min: 0, max: 9 }),
  fc.integer({ min: 0, max: 99 }),
);
type Part = { readonly rows: readonly (readonly number[])[] } | { readonly watermark: number } | "restart";
const parts: fc.Arbitrary<Part[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.array(bid, { minLength: 1, maxLength: 6 }).map((rows): Part => ({ rows })) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 25 }).map((watermark): Part => ({ watermark })) },
    fc.constant<Part>("restart"),
  ),
  { maxLength: 12 },
);

for (const emit of ["changes", "on window close"] as const)
  test(`the top rows of each window with EMIT ${emit} are those that came in time, and are freed behind the watermark`, async () => {
    const plan = await planQuery(WINDOWED, { bids: BIDS });
    const answer = await evaluatorOf(WINDOWED, { bids: BIDS });
    fc.assert(
      fc.property(parts, (given) => {
        const running = new Running(plan, { emit, inputs: { bids: stream(BIDS, 2) } });
        const taken: (readonly number[])[] = [];
        let [watermark, late] = [0, 0];
        for (const part of [...given, { watermark: 200 }]) {
          if (part === "restart") {
            running.query.flush();
            running.restart();
          } else if ("watermark" in part) {
            watermark += part.watermark;
            running.query.watermark("bids", watermark);
          } else {
            running.query.push("bids", Batch.of(BIDS, part.rows));
            for (const each of part.rows)
              if (Math.floor((each[2] ?? 0) / 10) * 10 + 10 <= watermark) late++;
              else taken.push(each);
          }
        }
        running.query.flush();
        const expected = new Multiset();
        for (const each of answer({ bids: taken })) expected.put(each);
        assert.deepEqual(running.results.rows, expected.rows);
        if (emit === "on window close") assert.ok(running.emitted.every(({ weight }) => weight === 1));
        assert.ok(running.query.memoryBytes < 20_000, `${running.query.memoryBytes} bytes are left`);
        if (!given.includes("restart")) assert.equal(running.query.late.count, late);
      }),
      { numRuns: 200 },
    );
  });

test("a top-n over a stream keeps no more rows than it gives", async () => {
  const text =
    "select a, p, at from (select *, row_number() over (partition by a order by p desc, at) as n from bids) x where n <= 2";
  const running = new Running(await planQuery(text, { bids: BIDS }), {
    emit: "changes",
    inputs: { bids: stream(BIDS) },
  });
  for (let round = 0; round < 50; round++) {
    const rows = Array.from({ length: 200 }, (_, i): Cell[] => [
      i % 3,
      (round * 31 + i * 7) % 1000,
      round * 200 + i,
    ]);
    running.query.push("bids", Batch.of(BIDS, rows));
    running.query.flush();
  }
  assert.equal(running.results.rows.length, 6);
  assert.ok(running.query.memoryBytes < 50_000, `${running.query.memoryBytes} bytes`);
});

test("EMIT ON WINDOW CLOSE of a top-n without a window is refused", async () => {
  const text =
    "select a from (select *, row_number() over (partition by a order by p) as n from bids) x where n <= 2";
  const plan = await planQuery(text, { bids: BIDS });
  assert.throws(
    () => new Running(plan, { emit: "on window close", inputs: { bids: stream(BIDS, 2) } }),
    /PARTITION BY/,
  );
});
