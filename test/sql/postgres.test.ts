import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { HeadwaterError } from "headwater";
import {
  type EvaluationFailure,
  evaluateQuery,
  outputValue,
  parseQuery,
  type ResolvedQuery,
  resolveQuery,
  type Scalar,
  type SqlType,
} from "#src/sql/index.js";
import fc from "../properties.js";
import { type Postgres, startPostgres } from "./postgres.js";
import { nested } from "./subquery-queries.js";
import { CREATION, insertion, query, rows, SCHEMA, type TableRows, TYPE_IDS } from "./typed-queries.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 300);

let postgres: Postgres;

before(async () => {
  postgres = await startPostgres();
  await postgres.client.query(CREATION);
});

after(async () => {
  await postgres.stop();
});

interface Answer {
  readonly types: readonly string[];
  /** Sorted, as PostgreSQL writes them. */
  readonly rows: readonly string[];
}

/** What PostgreSQL answers, or the code of its refusal. */
async function theirs(sql: string): Promise<Answer | string> {
  try {
    const { rows: found, fields } = await postgres.ask(sql);
    const types = fields.map(({ dataTypeID }) => TYPE_IDS[dataTypeID] ?? String(dataTypeID));
    return { types, rows: found.map((row) => JSON.stringify(row)).sort() };
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
    throw error;
  }
}

function shown(value: Scalar, type: SqlType): string | null {
  return value === null ? null : outputValue(value, type);
}

async function ours(
  sql: string,
  data: TableRows,
): Promise<{ answer: Answer; failures: EvaluationFailure[] } | string> {
  let resolved: ResolvedQuery;
  try {
    resolved = resolveQuery(await parseQuery(sql), sql, SCHEMA);
  } catch (error) {
    if (error instanceof HeadwaterError) return error.message;
    throw error;
  }
  const failures: EvaluationFailure[] = [];
  const { columns } = resolved.plan;
  const found = evaluateQuery(resolved, data, [], (failure) => failures.push(failure));
  for (const row of failures.length > 0 ? [] : found) {
    const wrong = columns.find(({ nullable }, i) => !nullable && (row[i] ?? null) === null);
    assert.equal(wrong, undefined, `${sql}\n${wrong?.name} is NULL, and its type says that it never is`);
  }
  const texts = found.map((row) => JSON.stringify(columns.map(({ type }, i) => shown(row[i] ?? null, type))));
  return { answer: { types: columns.map(({ type }) => type), rows: texts.sort() }, failures };
}

/** What PostgreSQL has and Headwater refuses: to take members out of JSON with `-`, and an order among JSON values. */
const LEFT_OUT = /: jsonb there, refused here|j < |< j|json is distinct from|is distinct from j::json/;

describe("queries mean what they mean to PostgreSQL", () => {
  test("every operator, with operands of every two types, has the type that it has there, or is refused as there", async () => {
    await postgres.client.query(insertion({ t: [], u: [] }));
    const operands = [
      "i",
      "k",
      "n",
      "f",
      "s",
      "b",
      "d",
      "ts",
      "j",
      "i::int2",
      "f::float4",
      "'1'",
      "null",
      "1",
      "1.5",
      "ts::timestamptz",
      "interval '1 hour'",
      "j::json",
    ];
    const operators = ["+", "-", "*", "/", "%", "||", "=", "<", "is distinct from", "like", "->", "->>"];
    const calls = ["coalesce", "greatest", "mod", "round", "date_trunc", "position", "left"];
    const expressions = operands.flatMap((a) =>
      operands.flatMap((b) => [
        ...operators.map((operator) => `${a} ${operator} ${b}`),
        ...calls.map((name) => (name === "position" ? `strpos(${a}, ${b})` : `${name}(${a}, ${b})`)),
      ]),
    );
    const wrong: string[] = [];
    let accepted = 0;
    for (const expression of expressions) {
      const sql = `select ${expression} as p from t`;
      const [expected, found] = [await theirs(sql), await ours(sql, {})];
      if (typeof expected === "string" && expected.startsWith("22")) continue; // it was evaluated already
      const type = typeof expected === "string" ? "refused" : expected.types[0];
      const own = typeof found === "string" ? "refused" : found.answer.types[0];
      if (type !== "refused") accepted++;
      if (type !== own) wrong.push(`${expression}: ${type} there, ${own} here`);
    }
    assert.deepEqual(
      wrong.filter((each) => !LEFT_OUT.test(each)),
      [],
    );
    assert.ok(accepted > expressions.length / 10);
  });

  test("random queries over random rows have the same types and give the same answers", async () => {
    let compared = 0;
    const cases = fc.asyncProperty(
      fc.oneof({ weight: 3, arbitrary: query }, nested),
      rows,
      async (sql, data) => {
        await postgres.client.query(insertion(data));
        const [expected, found] = [await theirs(sql), await ours(sql, data)];
        const about = `${sql}\n${JSON.stringify(data)}`;
        if (typeof found === "string") {
          assert.equal(
            typeof expected,
            "string",
            `PostgreSQL answers, and here it is refused: ${found}\n${about}`,
          );
          return;
        }
        if (typeof expected === "string") {
          // An expression without a value: PostgreSQL ends the query with an error of class 22, or 21 for a second row.
          assert.ok(
            /^2[12]/.test(expected) && found.failures.length > 0,
            `PostgreSQL refuses: ${expected}\n${about}`,
          );
          return;
        }
        assert.deepEqual(found.answer.types, expected.types, about);
        // PostgreSQL need not evaluate what decides nothing.
        if (found.failures.length > 0) return;
        assert.deepEqual(found.answer.rows, expected.rows, about);
        compared++;
      },
    );
    await fc.assert(cases, { numRuns: RUNS, includeErrorInReport: true });
    assert.ok(compared > RUNS / 2, `only ${compared} of ${RUNS} queries were compared`);
  });
});
