import assert from "node:assert/strict";
import { test } from "node:test";
import { aggregate, fn, openStreams } from "headwater/streams";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { refused } from "../refused.js";
import { changelog, histories, Running, stream } from "./standing.js";
import { evaluatorOf } from "./standing-sql.js";

fn("my_add", { args: ["bigint", "bigint"], returns: "bigint" }, (a, b) => a + b);
fn("my_upper", { args: ["text"], returns: "text" }, (text) => text.toUpperCase());
fn("my_half", { args: ["double precision"], returns: "double precision" }, (value) => value / 2);
fn("my_small", { args: ["bigint"], returns: "boolean" }, (value) => value < 2);
fn("my_nullif", { args: ["bigint", "bigint"], returns: "bigint?" }, (a, b) => (a === b ? null : a));
fn("my_coalesce", { args: ["bigint", "bigint"], returns: "bigint?", takesNull: true }, (a, b) => a ?? b);
fn("my_reciprocal", { args: ["bigint"], returns: "bigint" }, (value) => {
  if (value === 0) throw new RangeError("no reciprocal of nothing");
  return 1 / value;
});

aggregate(
  "my_sum",
  { args: ["bigint"], returns: "bigint?" },
  {
    init: () => ({ rows: 0, sum: 0 }),
    add: ({ rows, sum }, value) => ({ rows: rows + 1, sum: sum + value }),
    retract: ({ rows, sum }, value) => ({ rows: rows - 1, sum: sum - value }),
    result: ({ rows, sum }) => (rows === 0 ? null : sum),
  },
);
aggregate(
  "my_most",
  { args: ["bigint"], returns: "bigint?" },
  {
    init: (): number | null => null,
    add: (most, value) => Math.max(most ?? value, value),
    result: (most) => most,
  },
);
aggregate(
  "my_dot",
  { args: ["bigint", "bigint"], returns: "bigint" },
  {
    init: () => 0,
    add: (sum, a, b) => sum + a * b,
    retract: (sum, a, b) => sum - a * b,
    result: (sum) => sum,
  },
);

const SCHEMA: Schema = [column("k", "text"), column("a", "int"), column("b", "int", false)];
const row: fc.Arbitrary<readonly Cell[]> = fc.tuple(
  fc.constantFrom<Cell[]>("x", "y", "zebra", null),
  fc.constantFrom<Cell[]>(-3, -2, -1, 0, 1, 2, 3, null),
  fc.integer({ min: -3, max: 3 }),
);

/** What a program declares, and what is built in and means the same. */
const PAIRS: readonly (readonly [own: string, built: string])[] = [
  ["my_add(a, b)", "a + b"],
  ["my_add(my_add(a, 1), b)", "a + 1 + b"],
  ["my_upper(k)", "upper(k)"],
  ["my_half(a)", "a::double precision / 2"],
  ["my_nullif(a, b)", "nullif(a, b)"],
  ["my_coalesce(a, b)", "coalesce(a, b)"],
  ["CASE WHEN my_small(a) THEN k END", "CASE WHEN a < 2 THEN k END"],
];
const AGGREGATES: readonly (readonly [own: string, built: string])[] = [
  ["my_sum(a)", "sum(a)::bigint"],
  ["my_sum(my_add(a, b)) FILTER (WHERE my_small(b))", "(sum(a + b) FILTER (WHERE b < 2))::bigint"],
  ["my_dot(a, b)", "coalesce(sum(a * b), 0)::bigint"],
];
const GROWING: readonly (readonly [own: string, built: string])[] = [["my_most(a)", "max(a)"]];

for (const kind of ["stream", "changelog"] as const)
  test(`functions and aggregates of a program give what equal ones of SQL give, over a ${kind} and over restarts`, async () => {
    const schemas = { t: SCHEMA };
    const inputs = { t: kind === "stream" ? stream(SCHEMA) : changelog(SCHEMA) };
    const aggregates = kind === "stream" ? [...AGGREGATES, ...GROWING] : AGGREGATES;
    const texts = [
      ...PAIRS.map((pair) => pair.map((each) => `SELECT k, ${each} AS v FROM t`)),
      ...PAIRS.map((pair) => pair.map((each) => `SELECT ${each} AS v, count(*) AS n FROM t GROUP BY 1`)),
      ...aggregates.map((pair) => pair.map((each) => `SELECT k, ${each} AS v FROM t GROUP BY k`)),
      ...aggregates.map((pair) => pair.map((each) => `SELECT ${each} AS v FROM t`)),
    ];
    for (const [own = "", built = ""] of texts) {
      const plans = await Promise.all([own, built].map((text) => planQuery(text, schemas)));
      const [byOwn, byBuilt] = await Promise.all([own, built].map((text) => evaluatorOf(text, schemas)));
      fc.assert(
        fc.property(
          histories({ t: { row, retracts: kind === "changelog" } }),
          fc.array(row, { maxLength: 8 }),
          (steps, rows) => {
            const both = plans.map((plan) => new Running(plan, { emit: "changes", inputs }));
            for (const step of [...steps, "flush" as const])
              for (const running of both)
                if (typeof step !== "string") running.push(step, SCHEMA);
                else {
                  running.query.flush();
                  if (step === "checkpoint") running.checkpoint();
                  if (step === "restart") running.restart();
                }
            assert.deepEqual(both[0]?.results.rows, both[1]?.results.rows, own);
            assert.deepEqual(byOwn?.({ t: rows }), byBuilt?.({ t: rows }), `evaluated: ${own}`);
          },
        ),
        { numRuns: 12 },
      );
    }
  });

test("a function that throws, or gives what is no value of its type, leaves its row out", async () => {
  const plan = await planQuery("SELECT my_reciprocal(a) AS v FROM t", { t: SCHEMA });
  const running = new Running(plan, { emit: "changes", inputs: { t: stream(SCHEMA) } });
  const rows = [0, 1, 2, -1].map((a) => ["x", a, 0]);
  running.push({ table: "t", rows, weights: [1, 1, 1, 1] }, SCHEMA);
  running.query.flush();
  assert.deepEqual(running.results.rows, [
    ["number -1", 1],
    ["number 1", 1],
  ]);
  assert.deepEqual(
    running.query.errors.sample.map(({ sqlState, message }) => [sqlState, message]),
    [
      ["39000", "my_reciprocal(): no reciprocal of nothing"],
      ["39004", "my_reciprocal() gave 0.5, which is no bigint"],
    ],
  );
});

test("the service runs them, divided on two hosts, and refuses an aggregate without retract over rows that are taken back", async (t) => {
  const functions = new URL("./programs/functions.mjs", import.meta.url).href;
  const streams = await openStreams({ functions, hosts: 2 });
  t.after(() => streams.service.close());
  await streams.define("CREATE STREAM points (k bigint, x bigint, y bigint)");
  const sql = "SELECT k, norm(sum_of_squares(x)) AS v FROM points GROUP BY k EMIT CHANGES";
  await streams.registerQuery("norms", sql, { partitions: 2 });
  const points = Array.from({ length: 40 }, (_, i) => ({ k: i % 5, x: i, y: 1 }));
  await streams.pushEvents("points", points);
  const { rows } = await streams.page("norms", 1);
  const expected = [0, 1, 2, 3, 4].map((k) => [
    k,
    Math.sqrt(points.filter((each) => each.k === k).reduce((sum, { x }) => sum + x * x, 0)),
  ]);
  const found = rows.map(({ json }) => JSON.parse(json) as { k: number; v: number });
  assert.deepEqual(
    found.map(({ k, v }) => [k, v]).sort(([a = 0], [b = 0]) => a - b),
    expected,
  );
  const over = "SELECT my_most(v) AS v FROM (SELECT k, count(*) AS v FROM points GROUP BY k) x EMIT CHANGES";
  await refused(streams.registerQuery("most", over), "HW-5102", "my_most() has no retract", "line 1");
});

test("a name that is taken, or a type that is none, is refused", () => {
  const one = { args: ["bigint"], returns: "bigint" } as const;
  for (const name of ["abs", "sum", "my_sum", "Mine", "coalesce"])
    assert.throws(() => fn(name, one, (value) => value), { code: "HW-5463" }, name);
  assert.throws(() => fn("my_add", { args: ["bigint", "bigint"], returns: "bigint" }, (a) => a), {
    code: "HW-5463",
  });
  // @ts-expect-error: numeric is no type of functions
  assert.throws(() => fn("exact", { args: ["numeric"], returns: "text" }, String), { code: "HW-5463" });
  // @ts-expect-error: a text is no bigint
  fn("mistyped_result", one, (value) => String(value));
  // @ts-expect-error: the operand is a number
  fn("mistyped_operand", one, (value: string) => value.length);
  // @ts-expect-error: NULL is not among the results
  fn("mistyped_null", one, () => null);
  // @ts-expect-error: the operand can be NULL
  fn("mistyped_nulls", { ...one, takesNull: true }, (value: number) => value);
});
