import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { Multiset, Running, stream } from "./standing.js";
import { checkStanding } from "./standing-sql.js";

const CLICKS: Schema = [column("who", "text"), column("n", "int", false), column("at", "timestamp")];
const GAP_MS = 10;
const gap = `interval '${GAP_MS} milliseconds'`;
const row = fc.tuple(
  fc.constantFrom<Cell>("a", "b", null),
  fc.constantFrom<Cell>(1, 2),
  fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 80 }) }, fc.constant(null)),
);

const SPELLINGS = [
  `session(r, at, who, ${gap})`,
  `TABLE(SESSION(TABLE r PARTITION BY who, DESCRIPTOR(at), ${gap.replace("interval", "INTERVAL")}))`,
];
const sql = fc.constantFrom(
  ...SPELLINGS.map((from) => `select who, n, window_start, window_end from ${from}`),
  `select who, count(*) as c, sum(n) as t, window_start, window_end from ${SPELLINGS[0]} group by who, window_start, window_end`,
  `select n, max(at) as m, window_end from session(r, at, n, ${gap}) group by n, window_end having count(*) > 1`,
  `select count(*) as c, window_start from session(r, at, ${gap}) group by window_start`,
);

for (const kind of ["stream", "changelog"] as const)
  test(`sessions over a ${kind} grow, meet and part as the evaluator says, after every round`, async () => {
    await checkStanding(sql, { r: { schema: CLICKS, row, kind } }, 250);
  });

type Part = { readonly rows: readonly (readonly Cell[])[] } | { readonly watermark: number } | "restart";
const parts: fc.Arbitrary<Part[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.array(row, { minLength: 1, maxLength: 6 }).map((rows): Part => ({ rows })) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 25 }).map((watermark): Part => ({ watermark })) },
    fc.constant<Part>("restart"),
  ),
  { maxLength: 12 },
);

/** Sessions by the book: rows that are open, and what became of those whose sessions were complete. */
class Book {
  open: (readonly Cell[])[] = [];
  readonly closed: Cell[][] = [];
  late = 0;
  #watermark = 0;

  add(given: readonly Cell[]): void {
    const [who, , at] = given;
    if (typeof at !== "number") return;
    const isNear = this.open.some((each) => each[0] === who && Math.abs(Number(each[2]) - at) < GAP_MS);
    if (at + GAP_MS <= this.#watermark && !isNear) this.late++;
    else this.open.push(given);
  }

  sessions(): { readonly row: readonly Cell[]; readonly start: number; readonly end: number }[] {
    return this.open.map((each) => {
      const own = this.open.filter(([who]) => who === each[0]).map(([, , at]) => Number(at));
      let [start, last] = [Number(each[2]), Number(each[2])];
      for (const time of own.toSorted((a, b) => b - a))
        if (time < start && start - time < GAP_MS) start = time;
      for (const time of own.toSorted((a, b) => a - b)) if (time > last && time - last < GAP_MS) last = time;
      return { row: each, start, end: last + GAP_MS };
    });
  }

  watermark(time: number): void {
    this.#watermark = time;
    const sessions = this.sessions();
    this.open = sessions.filter(({ end }) => end > time).map((each) => each.row);
    for (const each of sessions) if (each.end <= time) this.closed.push([...each.row, each.start, each.end]);
  }
}

for (const emit of ["changes", "on window close"] as const)
  test(`sessions with EMIT ${emit} close at the watermark, are freed, and what comes too late is counted`, async () => {
    const plan = await planQuery(`select * from ${SPELLINGS[0]}`, { r: CLICKS });
    fc.assert(
      fc.property(parts, (given) => {
        const running = new Running(plan, { emit, inputs: { r: stream(CLICKS, 2) } });
        const book = new Book();
        let watermark = 0;
        for (const part of [...given, { watermark: 200 }]) {
          if (part === "restart") {
            running.query.flush();
            running.restart();
          } else if ("watermark" in part) {
            watermark += part.watermark;
            running.query.watermark("r", watermark);
            book.watermark(watermark);
            const expected = new Multiset();
            const open = book.sessions().map(({ row: each, start, end }) => [...each, start, end]);
            for (const each of [...book.closed, ...(emit === "changes" ? open : [])]) expected.put(each);
            assert.deepEqual(running.results.rows, expected.rows);
          } else {
            running.query.push("r", Batch.of(CLICKS, part.rows));
            for (const each of part.rows) book.add(each);
          }
        }
        if (emit === "on window close") assert.ok(running.emitted.every(({ weight }) => weight > 0));
        assert.ok(running.query.memoryBytes < 20_000, `${running.query.memoryBytes} bytes are left`);
        if (!given.includes("restart")) assert.equal(running.query.late.count, book.late);
      }),
      { numRuns: 300 },
    );
  });
