import assert from "node:assert/strict";
import { evaluateQuery, parseQuery, resolveQuery, type Scalar } from "#src/sql/index.js";
import { type Cell, numericText, type Scaled, type Schema } from "#src/streams/columns/index.js";
import type { InputSpec } from "#src/streams/plan/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import { SQL_TYPES } from "#src/streams/sql/types.js";
import fc from "../properties.js";
import { changelog, histories, Multiset, Running, stream } from "./standing.js";

export interface Table {
  readonly schema: Schema;
  readonly row: fc.Arbitrary<readonly Cell[]>;
  readonly kind: "stream" | "changelog";
}

/** Random SQL, as a template with random parts. */
export function words(parts: TemplateStringsArray, ...given: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...given).map((values) => String.raw({ raw: parts }, ...values));
}

/**
 * The promise of every standing query: after every round, what it has emitted adds up to what the evaluator answers over all
 * rows so far, also if it went on from a checkpoint.
 */
export async function checkStanding(
  sql: fc.Arbitrary<string>,
  tables: Readonly<Record<string, Table>>,
  numRuns: number,
): Promise<void> {
  const schemas = Object.fromEntries(Object.entries(tables).map(([name, { schema }]) => [name, schema]));
  const inputs: Record<string, InputSpec> = Object.fromEntries(
    Object.entries(tables).map(([name, { schema, kind }]) => [
      name,
      kind === "stream" ? stream(schema) : changelog(schema),
    ]),
  );
  const given = Object.fromEntries(
    Object.entries(tables).map(([name, { row, kind }]) => [name, { row, retracts: kind === "changelog" }]),
  );
  await fc.assert(
    fc.asyncProperty(sql, histories(given), async (text, steps) => {
      const plan = await planQuery(text, schemas);
      const running = new Running(plan, { emit: "changes", inputs });
      const answer = await evaluatorOf(text, schemas);
      const present: Record<string, (readonly Cell[])[]> = {};
      for (const name of Object.keys(schemas)) present[name] = [];
      for (const step of [...steps, "flush" as const]) {
        if (typeof step !== "string") {
          running.push(step, schemas[step.table] ?? []);
          const rows = present[step.table] ?? [];
          for (const [i, each] of step.rows.entries())
            if (step.weights[i] === 1) rows.push(each);
            else rows.splice(rows.indexOf(each), 1);
          continue;
        }
        running.query.flush();
        if (step === "checkpoint") running.checkpoint();
        if (step === "restart") running.restart();
        const expected = new Multiset();
        for (const row of answer(present)) expected.put(row);
        assert.deepEqual(shown(running, plan.columns), expected.rows, text);
        assert.equal(running.query.errors.first, null);
      }
    }),
    { numRuns },
  );
}

/** What the evaluator answers over rows of the engine, with decimals as texts of their value. */
export async function evaluatorOf(
  text: string,
  schemas: Readonly<Record<string, Schema>>,
): Promise<(present: Readonly<Record<string, readonly (readonly Cell[])[]>>) => Cell[][]> {
  const typed = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      schema.map((spec) => ({ name: spec.name, type: SQL_TYPES[spec.type], nullable: spec.nullable })),
    ]),
  );
  const resolved = resolveQuery(await parseQuery(text), text, typed);
  return (present) => {
    const rows = Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [
        name,
        (present[name] ?? []).map((row) =>
          Object.fromEntries(schema.map((spec, i) => [spec.name, scalarOf(row[i] ?? null, spec)])),
        ),
      ]),
    );
    const { columns } = resolved.plan;
    const failed = (failure: unknown) => assert.fail(`the evaluator refuses a row: ${String(failure)}`);
    return evaluateQuery(resolved, rows, [], failed).map((row) =>
      row.map((cell, i) => plainDecimal(cell as Cell, columns[i]?.type === "numeric")),
    );
  };
}

function scalarOf(cell: Cell, { type, scale }: Schema[number]): Scalar {
  if (type === "numeric" && cell !== null) return numericText(cell as Scaled, scale);
  return cell as Scalar;
}

/** A decimal without zeros at its end: the engine has one scale per column, PostgreSQL one per value. */
function plainDecimal(cell: Cell, isNumeric: boolean): Cell {
  if (!isNumeric || cell === null) return cell;
  const [whole = "", fraction = ""] = String(cell).split(".");
  const digits = fraction.replace(/0+$/, "");
  return digits === "" ? whole : `${whole}.${digits}`;
}

/** The rows that were emitted, added up, with decimals as texts. */
function shown(running: Running, columns: Schema): [string, number][] {
  const rows = new Multiset();
  for (const { row, weight } of running.emitted)
    rows.put(
      row.map((cell, i) => {
        const spec = columns[i];
        return spec?.type === "numeric" && cell !== null
          ? plainDecimal(numericText(cell as Scaled, spec.scale), true)
          : cell;
      }),
      weight,
    );
  return rows.rows;
}
