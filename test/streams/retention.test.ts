import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Batch, type Cell, column, encodeBatch, type Schema } from "#src/streams/columns/index.js";
import {
  type Command,
  encodeCommand,
  GraphEngine,
  type QueryDefinition,
  type StreamDefinition,
  stamp,
} from "#src/streams/graph/index.js";
import type { InputSpec } from "#src/streams/plan/index.js";
import { planDefinition, stateLimitOf, withLimitedState } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { Owned } from "./owned.js";
import { Multiset } from "./standing.js";
import { evaluatorOf } from "./standing-sql.js";

const RETAINED = { bytes: 1e9, ms: null };
const KEPT_MS = 32;
const STEP_MS = 2;

const SCHEMAS: Readonly<Record<string, Schema>> = {
  s: [column("k", "int"), column("v", "int", false), column("at", "timestamp", false)],
  r: [column("k", "int"), column("w", "int", false), column("at", "timestamp", false)],
  u: [column("k", "int"), column("v", "int", false)],
  t: [column("k", "int", false), column("name", "text")],
};

function streamOf(name: string): StreamDefinition {
  const isTable = name === "t";
  return {
    ...{ kind: isTable ? "table" : "stream", name, columns: SCHEMAS[name] ?? [], key: isTable ? [0] : [] },
    ...{ eventId: null, retention: RETAINED },
    time: name === "s" || name === "r" ? { column: 2, latenessMs: 0, idleMs: 1e12 } : null,
  };
}

const SPECS: Readonly<Record<string, InputSpec>> = Object.fromEntries(
  Object.entries(SCHEMAS).map(([name, schema]) => {
    const { kind, key, time } = streamOf(name);
    return [name, { schema, timeColumn: time?.column ?? null, kind, key }];
  }),
);

/** A row that came, with the time that its age is counted by. */
interface Came {
  readonly row: readonly Cell[];
  readonly time: number;
}

type Retained = Readonly<Record<string, readonly Came[]>>;
type Answer = (present: Readonly<Record<string, readonly (readonly Cell[])[]>>) => Cell[][];

/**
 * What is retained, by the book. `rows`: the answer is about the rows that are young enough. `groups`: about the rows of groups
 * whose latest row is. `pairs`: what a row has given when it is forgotten stays.
 */
type Rule = "rows" | "groups" | "pairs";

const QUERIES: readonly (readonly [rule: Rule, sql: string])[] = [
  ["pairs", "SELECT s.k, s.v, r.w FROM s JOIN r ON s.k = r.k"],
  ["pairs", "SELECT s.v, r.w FROM (SELECT k, v + 1 AS v FROM s WHERE v > 0) s JOIN r ON s.v = r.w"],
  ["pairs", "SELECT s.k, s.v, t.name FROM s LEFT JOIN t ON s.k = t.k"],
  ["pairs", "SELECT s.v FROM s WHERE s.v NOT IN (SELECT k FROM t)"],
  ["pairs", "SELECT u.v, t.name FROM u JOIN t ON u.k = t.k"],
  ["pairs", "SELECT a.v AS x, b.v AS y FROM u a JOIN u b ON a.k = b.k"],
  ["pairs", "SELECT s.v + d.n AS v FROM s CROSS JOIN (VALUES (0), (1)) AS d(n)"],
  ["groups", "SELECT k, count(*) AS n, max(v) AS most FROM s GROUP BY k"],
  ["groups", "SELECT k, min(v) AS least FROM s WHERE k > 0 GROUP BY k HAVING count(*) > 1"],
  ["groups", "SELECT DISTINCT k FROM s"],
  ["groups", "SELECT k, max(v) AS most FROM u GROUP BY k"],
  ["rows", "SELECT k, v, lag(v) OVER (PARTITION BY k ORDER BY v, at) AS p FROM s"],
  [
    "rows",
    "SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v, at) AS n FROM s) x WHERE n <= 2",
  ],
  ["rows", "SELECT k, v, count(*) OVER (PARTITION BY k ORDER BY v) AS n FROM u"],
];

const definitions = new Map<string, QueryDefinition>();
const answers = new Map<string, Answer>();

before(async () => {
  for (const [, sql] of QUERIES) {
    const text = `${sql} WITH (state_retention = '${KEPT_MS} milliseconds')`;
    const found = await planDefinition(text, SCHEMAS);
    assert.ok("plan" in found);
    const limit = stateLimitOf(found.options.state_retention);
    const { plan, refusal } = withLimitedState(found.plan, SPECS, found.resolved, limit);
    assert.equal(refusal, null, sql);
    definitions.set(sql, {
      ...{ kind: "query", name: "q", sql: text, plan, emit: "changes", inputs: found.resolved.scanned },
      ...{ backfill: false, key: null, retention: RETAINED, coordination: null, partitions: 1 },
    });
    answers.set(sql, await evaluatorOf(sql, SCHEMAS));
  }
});

/** A query with retention, by the book: everything that came is kept here, with what of it still counts. */
class Model {
  readonly #stayed = new Multiset();
  readonly #watermarks = new Map<string, number>();
  readonly #horizons = new Map<string, number>();
  #retained: Record<string, readonly Came[]> = { s: [], r: [], u: [], t: [] };

  constructor(
    readonly rule: Rule,
    readonly answer: Answer,
  ) {}

  push(name: string, rows: readonly (readonly Cell[])[], timeMs: number): void {
    const came = rows.map((row) => ({ row, time: name === "u" ? timeMs : Number(row[2] ?? 0) }));
    const replaced = new Set(name === "t" ? rows.map(([key]) => key) : []);
    const before = (this.#retained[name] ?? []).filter(({ row: [key] }) => !replaced.has(key));
    const last = came.filter(
      ({ row: [key] }, i) => name !== "t" || !rows.slice(i + 1).some(([k]) => k === key),
    );
    this.#retained[name] = [...before, ...last];
    for (const { time } of came) if (name !== "u" && name !== "t") this.#reach(name, time);
  }

  #reach(name: string, timeMs: number): void {
    this.#watermarks.set(name, Math.max(timeMs, this.#watermarks.get(name) ?? timeMs));
  }

  /** The end of a round: what has become too old goes. */
  round(timeMs: number): void {
    this.#reach("u", timeMs);
    const now = this.#left();
    if (this.rule === "pairs") {
      for (const row of this.#asked(this.#retained)) this.#stayed.put(row);
      for (const row of this.#asked(now)) this.#stayed.put(row, -1);
    }
    this.#retained = now;
  }

  #left(): Record<string, readonly Came[]> {
    return Object.fromEntries(
      Object.entries(this.#retained).map(([name, rows]) => {
        if (name === "t") return [name, rows];
        const watermark = this.#watermarks.get(name) ?? Number.NEGATIVE_INFINITY;
        const horizon = Math.floor(watermark / STEP_MS) * STEP_MS - KEPT_MS;
        // Rows that come when they are too old already stay until something else becomes too old.
        const isForgetting = horizon > (this.#horizons.get(name) ?? Number.NEGATIVE_INFINITY);
        this.#horizons.set(name, horizon);
        const isYoung = ({ time }: Came) => !isForgetting || time >= horizon;
        const young = new Set(rows.filter(isYoung).map(({ row: [key] }) => key));
        return [
          name,
          rows.filter((each) => (this.rule === "groups" ? young.has(each.row[0] ?? null) : isYoung(each))),
        ];
      }),
    );
  }

  #asked(retained: Retained): Cell[][] {
    return this.answer(
      Object.fromEntries(Object.entries(retained).map(([name, rows]) => [name, rows.map(({ row }) => row)])),
    );
  }

  get rows(): [string, number][] {
    const all = new Multiset();
    all.join(this.#stayed);
    for (const row of this.#asked(this.#retained)) all.put(row);
    return all.rows;
  }
}

const key = fc.option(fc.integer({ min: 0, max: 3 }), { freq: 8 });
const value = fc.integer({ min: 0, max: 4 });
const batch = fc.record({
  rows: fc.array(fc.tuple(fc.constantFrom("s", "r", "u"), key, value, fc.integer({ min: -25, max: 10 })), {
    maxLength: 6,
  }),
  upserts: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom("a", "b")), { maxLength: 2 }),
  laterMs: fc.integer({ min: 0, max: 12 }),
});
const step = fc.oneof(
  { weight: 8, arbitrary: batch },
  { weight: 2, arbitrary: fc.constantFrom("checkpoint" as const, "kill" as const, "tick" as const) },
);

for (const [rule, sql] of QUERIES)
  test(`with a retention and kills, the answers are those of what is retained: ${sql}`, () => {
    const definition = definitions.get(sql);
    const answer = answers.get(sql);
    assert.ok(definition !== undefined && answer !== undefined);
    fc.assert(
      fc.property(fc.array(step, { minLength: 4, maxLength: 24 }), (steps) => {
        const owned = new Owned(() => new GraphEngine());
        const model = new Model(rule, answer);
        let timeMs = 1000;
        let upserts = 0; // an upsert that changes nothing is not told to queries
        const carryOut = (command: Command) =>
          assert.equal(owned.apply(stamp(encodeCommand(command), timeMs)).refused, null);
        for (const name of Object.keys(SCHEMAS))
          carryOut({ kind: "define stream", definition: streamOf(name) });
        carryOut({ kind: "define query", definition });
        for (const each of steps) {
          let isRun = false;
          if (each === "checkpoint" || each === "kill") owned[each]();
          else if (each === "tick") carryOut({ kind: "tick" });
          else {
            timeMs += each.laterMs;
            const batches = Object.entries(SCHEMAS).map(([name, schema]) => {
              const own = each.rows
                .filter(([to]) => to === name)
                .map(([, k, v, at]): Cell[] => (name === "u" ? [k, v] : [k, v, timeMs + at]));
              const rows: readonly (readonly Cell[])[] =
                name === "t" ? each.upserts.map(([k, text]) => [k, `${text}${++upserts}`]) : own;
              model.push(name, rows, timeMs);
              isRun ||= rows.length > 0 && definition.inputs.includes(name);
              const pushed = { stream: name, producer: "", sequence: null, key: null };
              return { ...pushed, batch: encodeBatch(Batch.of(schema, rows)) };
            });
            carryOut({ kind: "push", pushes: batches });
          }
          if (each === "tick" || isRun) model.round(timeMs);
          assert.deepEqual(given(owned.engine), model.rows);
        }
      }),
      { numRuns: 30, includeErrorInReport: true },
    );
  });

/** The sum of all that the query has given. */
function given(engine: GraphEngine): [string, number][] {
  const sum = new Multiset();
  const out = engine.nodes.channel("q");
  for (const segment of out?.log.all ?? []) sum.add((out as NonNullable<typeof out>).rowsOf(segment));
  return sum.rows;
}

/** What is refused without a retention, and by which words; what is not has a bound. */
const STATED: readonly (readonly [sql: string, where: RegExp | null, isForgettable: boolean])[] = [
  ["SELECT s.v FROM s JOIN r ON s.k = r.k", /This join keeps the rows of the left side/, true],
  ["SELECT s.v FROM s JOIN t ON s.k = t.k", /left side[\s\S]*line 1, column 17/, true],
  ["SELECT s.v FROM s JOIN r ON s.k = r.k AND s.at BETWEEN r.at AND r.at + INTERVAL '1 hour'", null, true],
  ["SELECT s.v FROM s JOIN t FOR SYSTEM_TIME AS OF PROCTIME() ON s.k = t.k", null, true],
  ["SELECT s.v + d.n FROM s CROSS JOIN (VALUES (0), (1)) AS d(n)", null, true],
  ["SELECT v FROM s WHERE v IN (SELECT w FROM r)", /IN or EXISTS keeps/, true],
  ["SELECT v FROM s WHERE v > (SELECT avg(w) FROM r)", /This join keeps the rows of the left side/, true],
  ["SELECT k, count(*) FROM s GROUP BY k", null, true],
  ["SELECT DISTINCT k FROM u", null, true],
  ["SELECT count(*) FROM u", null, true],
  ["SELECT k, count(DISTINCT v) FROM s GROUP BY k", null, true],
  ["SELECT k, array_agg(v ORDER BY v) FROM s GROUP BY k", /all values of array_agg\(\)/, false],
  ["SELECT name, array_agg(k ORDER BY k) FROM t GROUP BY name", null, true],
  [
    "SELECT window_start, array_agg(v ORDER BY v) FROM TUMBLE(s, at, INTERVAL '1 hour') GROUP BY window_start",
    null,
    true,
  ],
  [
    "SELECT k, v, rank() OVER (PARTITION BY k ORDER BY v) FROM s",
    /OVER keeps the rows of each partition/,
    true,
  ],
  [
    "SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM s) x WHERE n < 3",
    null,
    true,
  ],
  ["SELECT v FROM s ORDER BY v LIMIT 3", null, true],
  ["SELECT k, name, rank() OVER (ORDER BY name) FROM t", null, true],
  ["SELECT k, count(*) FROM SESSION(s, at, k, INTERVAL '1 minute') GROUP BY k, window_start", null, true],
  ["SELECT x.n, t.name FROM (SELECT k, count(*) AS n FROM s GROUP BY k) x JOIN t ON x.k = t.k", null, true],
];

test("a query is refused if and only if it would keep every row of a stream, and a retention is enough", async () => {
  for (const [sql, where, isForgettable] of STATED) {
    const found = await planDefinition(sql, SCHEMAS);
    assert.ok("plan" in found);
    const limited = (written?: string) =>
      withLimitedState(found.plan, SPECS, found.resolved, stateLimitOf(written)).refusal;
    const refusal = limited();
    if (where === null) assert.equal(refusal, null, sql);
    else {
      assert.equal(refusal?.code, "HW-5453", sql);
      assert.match(refusal.message, where);
      assert.match(refusal.message, /state_retention = 'forever'/);
    }
    assert.equal(limited("7 days") === null, isForgettable, sql);
    assert.equal(limited("forever"), null, sql);
  }
  assert.throws(() => stateLimitOf("a while"), { code: "HW-5403" });
  assert.throws(() => stateLimitOf("0"), { code: "HW-5403" });
});
