import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { evaluateQuery, parseQuery, resolveQuery } from "#src/sql/index.js";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import fc from "../properties.js";
import { changelog, histories, Multiset, Running, stream } from "./standing.js";

const SCHEMA: Schema = [column("a", "int"), column("b", "int"), column("k", "int", false)];
const TYPED = [
  { name: "a", type: "int8" },
  { name: "b", type: "int8" },
  { name: "k", type: "int8", nullable: false },
] as const;
const cell = fc.constantFrom<Cell>(0, 1, 2, null);
const row = fc.tuple(cell, cell, fc.constantFrom<Cell>(0, 1, 2));

const not = fc.constantFrom("", "not ");
const own = fc.constantFrom("", " where s.b > 0", " where s.b is not null");
const linked = fc.constantFrom(
  " where s.a = r.a",
  " where s.a = r.a and s.b < r.b",
  " where s.k = r.k and s.b > 0",
  " where s.b <> r.b",
);
const words = (parts: TemplateStringsArray, ...given: fc.Arbitrary<string>[]) =>
  fc.tuple(...given).map((values) => String.raw({ raw: parts }, ...values));
const condition = fc.oneof(
  words`${not}exists (select 1 from s${fc.oneof(own, linked)})`,
  words`r.a ${not}in (select s.b from s${fc.oneof(own, linked)})`,
  words`(r.a, r.k) ${not}in (select s.b, s.k from s${fc.oneof(own, linked)})`,
  words`r.k ${not}in (select s.k from s${fc.oneof(own, linked)})`,
);
const query = fc.oneof(
  words`select a, b from r where ${condition}`,
  words`select a, b from r where ${condition} and (${condition} or b = 1)`,
  words`select k, ${condition} as c from r`,
  words`select r.a, s.b from r join s on r.k = s.k where ${fc.constant("r.a in (select s.a from s)")} and r.b < s.b`,
  words`select a, b from r where exists (select 1 from s where s.a = r.a and ${fc.constant("s.b in (select r.k from r)")})`,
);

for (const kind of ["stream", "changelog"] as const)
  test(`IN and EXISTS over a ${kind} answer what the naive evaluator answers, after every round`, async () => {
    const input = kind === "stream" ? stream(SCHEMA) : changelog(SCHEMA);
    const inputs = { r: input, s: input };
    const retracts = kind === "changelog";
    await fc.assert(
      fc.asyncProperty(
        query,
        histories({ r: { row, retracts }, s: { row, retracts } }),
        async (sql, steps) => {
          const running = new Running(await planFor(sql), { emit: "changes", inputs });
          const resolved = resolveQuery(await parseQuery(sql), sql, { r: TYPED, s: TYPED });
          const present: Record<string, (readonly Cell[])[]> = { r: [], s: [] };
          for (const step of [...steps, "flush" as const]) {
            if (typeof step !== "string") {
              running.push(step, SCHEMA);
              const rows = present[step.table] ?? [];
              for (const [i, each] of step.rows.entries())
                if (step.weights[i] === 1) rows.push(each);
                else rows.splice(rows.indexOf(each), 1);
              continue;
            }
            running.query.flush();
            if (step === "checkpoint") running.checkpoint();
            if (step === "restart") running.restart();
            const named = (rows: readonly (readonly Cell[])[] = []) =>
              rows.map(([a, b, k]) => ({ a, b, k }) as Record<string, number | null>);
            const expected = new Multiset();
            const tables = { r: named(present.r), s: named(present.s) };
            for (const each of evaluateQuery(resolved, tables)) expected.put(each as Cell[]);
            assert.deepEqual(running.results.rows, expected.rows, sql);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

function planFor(sql: string) {
  return planQuery(sql, { r: SCHEMA, s: SCHEMA });
}

const REFUSED: [sql: string, message: RegExp][] = [
  ["select a from r where b = (select max(r.b) from s)", /belongs to that query/],
  [
    "select r.a from r left join s on r.a = s.a and r.b in (select t.b from s t where t.a = s.k)",
    /uses the columns of one side/,
  ],
  ["select a from r where b like any (select s.b::text from s)", /write others with EXISTS/],
];

test("a subquery that has no meaning here is refused with its place and what to write", async () => {
  for (const [sql, message] of REFUSED)
    await assert.rejects(
      planFor(sql),
      (error) => error instanceof HeadwaterError && error.code === "HW-5102" && message.test(error.message),
    );
});
