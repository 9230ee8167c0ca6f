import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, type Cell, column, type Schema } from "#src/streams/columns/index.js";
import type { Plan } from "#src/streams/plan/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { naive } from "./naive.js";
import { Multiset, Running, stream } from "./standing.js";

const BIDS: Schema = [
  column("auction", "int", false),
  column("price", "int"),
  column("at", "timestamp", false),
];

const QUERIES = [
  "select auction, count(*), sum(price), window_start, window_end from tumble(bids, at, interval '10 milliseconds') group by auction, window_start, window_end",
  "select window_start, max(price), count(distinct auction) from hop(bids, at, interval '10 milliseconds', interval '30 milliseconds') group by window_start having count(*) > 1",
  "select most, window_start from (select max(n) as most, window_start from (select auction, count(*) as n, window_start from tumble(bids, at, interval '10 milliseconds') group by auction, window_start) c group by window_start) m",
  "select auction, window_end, min(price) from tumble(bids, at, interval '20 milliseconds') where price > 1 group by 1, 2",
];
const plans = await Promise.all(QUERIES.map((sql) => planQuery(sql, { bids: BIDS })));

type Row = readonly [auction: number, price: number | null, at: number];
type Step = { readonly rows: readonly Row[] } | { readonly watermark: number } | "flush" | "restart";

const row = fc.tuple(
  fc.constantFrom(1, 2, 3),
  fc.option(fc.integer({ min: 0, max: 5 })),
  fc.integer({ min: 0, max: 100 }),
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.array(row, { minLength: 1, maxLength: 6 }).map((rows): Step => ({ rows })) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 30 }).map((watermark): Step => ({ watermark })) },
    { weight: 2, arbitrary: fc.constantFrom<Step>("flush", "restart") },
  ),
  { maxLength: 14 },
);

/** The windows that a row of these queries is in, which are complete at the watermark, are those that end by then. */
function isLate(sizeMs: number, slideMs: number, at: number, watermark: number): boolean {
  const last = Math.floor(at / slideMs) * slideMs;
  return last + sizeMs <= watermark;
}

const SIZES = [
  [10, 10],
  [30, 10],
  [10, 10],
  [20, 20],
] as const;

/** What a query answers over rows, each counting in the windows that were not complete when it came. */
function answer(plan: Plan, taken: readonly { row: Row; watermark: number }[], which: number): Cell[][] {
  const [sizeMs, slideMs] = SIZES[which] ?? [10, 10];
  if (sizeMs === slideMs) return naive(plan, { bids: taken.map(({ row: each }) => [...each]) }).rows;
  // A row of a hop that came late counts in the later windows only: each window is asked apart.
  const starts = new Set(
    taken.flatMap(({ row: [, , at] }) => {
      const last = Math.floor(at / slideMs) * slideMs;
      return Array.from({ length: sizeMs / slideMs }, (_, i) => last - i * slideMs);
    }),
  );
  return [...starts].flatMap((start) => {
    const own = taken.filter(({ watermark }) => start + sizeMs > watermark).map(({ row: each }) => [...each]);
    return naive(plan, { bids: own }).rows.filter(([first]) => first === start);
  });
}

for (const emit of ["changes", "on window close"] as const)
  test(`windows with EMIT ${emit} hold the rows that came in time, across restarts, and are freed behind the watermark`, () => {
    fc.assert(
      fc.property(fc.nat({ max: plans.length - 1 }), steps, (which, given) => {
        const plan = plans[which] as Plan;
        const [sizeMs, slideMs] = SIZES[which] ?? [10, 10];
        const running = new Running(plan, { emit, inputs: { bids: stream(BIDS, 2) } });
        const taken: { row: Row; watermark: number }[] = [];
        let [watermark, late] = [Number.NEGATIVE_INFINITY, 0];
        const last: Step[] = [{ watermark: 200 }, "flush"];
        for (const step of [...given, ...last]) {
          if (step === "flush" || step === "restart") {
            running.query.flush();
            if (step === "restart") running.restart();
            if (emit !== "changes") continue;
            const expected = new Multiset();
            for (const each of answer(plan, taken, which)) expected.put(each);
            assert.deepEqual(running.results.rows, expected.rows);
          } else if ("watermark" in step) {
            watermark = Math.max(watermark, 0) + step.watermark;
            running.query.watermark("bids", watermark);
          } else {
            running.query.push("bids", Batch.of(BIDS, step.rows));
            for (const each of step.rows) {
              // Whether the filter lets a row through is asked before its window.
              const isAsked = which !== 3 || (each[1] ?? 0) > 1;
              if (!isLate(sizeMs, slideMs, each[2], watermark)) taken.push({ row: each, watermark });
              else if (isAsked) late++;
            }
          }
        }
        const expected = new Multiset();
        for (const each of answer(plan, taken, which)) expected.put(each);
        assert.deepEqual(running.results.rows, expected.rows);
        assert.ok(running.query.memoryBytes < 20_000, `${running.query.memoryBytes} bytes are left`);
        if (!given.includes("restart")) {
          assert.equal(running.query.late.count, late);
          const rows = running.query.late.take().reduce((sum, batch) => sum + batch.rows, 0);
          assert.equal(rows, late);
        }
      }),
      { numRuns: 400 },
    );
  });

test("EMIT ON WINDOW CLOSE gives the windows in their order", () => {
  const ends: Cell[] = [];
  const running = new Running(
    plans[0] as Plan,
    { emit: "on window close", inputs: { bids: stream(BIDS, 2) } },
    (batch) => {
      for (let i = 0; i < batch.rows; i++) ends.push(batch.cell(i, 4));
    },
  );
  const times = [35, 3, 17, 28, 4, 11];
  running.query.push(
    "bids",
    Batch.of(
      BIDS,
      times.map((at, i) => [i, 1, at]),
    ),
  );
  running.query.watermark("bids", 30);
  assert.deepEqual(ends, [10, 10, 20, 20, 30]);
  running.query.watermark("bids", 100);
  assert.deepEqual(ends, [10, 10, 20, 20, 30, 40]);
});

test("EMIT ON WINDOW CLOSE without a window is refused", async () => {
  const plan = await planQuery("select auction, count(*) from bids group by auction", { bids: BIDS });
  assert.throws(
    () => new Running(plan, { emit: "on window close", inputs: { bids: stream(BIDS, 2) } }),
    /HW-5102|needs a GROUP BY over a window/,
  );
});
