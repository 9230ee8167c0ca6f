import assert from "node:assert/strict";
import { HeadwaterError } from "headwater";
import {
  type Cell,
  column,
  numericText,
  type Scaled,
  type Schema,
  timestampText,
} from "#src/streams/columns/index.js";
import type { Plan } from "#src/streams/plan/index.js";
import { planDefinition } from "#src/streams/sql/index.js";
import { changelog, Running, type Step, stream } from "../streams/standing.js";
import type { Postgres } from "./postgres.js";
import { TYPE_IDS } from "./typed-queries.js";

/** The columns that a stream can have. `CASTS` makes those of `typed-queries.ts` of them. */
export const SCHEMA: Schema = [
  column("id", "int", false),
  column("i", "int"),
  column("k", "int"),
  column("n", "numeric", true, 4),
  column("f", "float"),
  column("s", "text"),
  column("b", "bool"),
  column("d", "timestamp"),
  column("ts", "timestamp"),
  column("j", "json"),
];

const CASTS = "id::int4 as id, i::int4 as i, k, n, f, s, b, d::date as d, ts, j";

/** A query over the tables t and u as one over streams, whose columns have fewer types. */
export function overStreams(sql: string): string {
  const views = ["t", "u"].map((name) => `${name} as (select ${CASTS} from ${name}0)`).join(", ");
  return sql.startsWith("with ") ? `with ${views}, ${sql.slice(5)}` : `with ${views} ${sql}`;
}

const DEFINED =
  "id int8 not null, i int8, k int8, n numeric(30, 4), f float8, s text, b bool, d timestamp, ts timestamp, j jsonb";

export const TABLES = ["t0", "u0"] as const;
export const CREATION = TABLES.map((name) => `create table ${name} (${DEFINED});`).join("\n");

/** How a run ended: compared so many times, refused in these words, or given up because a row has no value. */
export type Outcome =
  | { readonly compared: number }
  | { readonly refused: string }
  | { readonly failed: string };

/**
 * Runs a query that stands, and compares what it has emitted with what PostgreSQL answers over the rows that are there, after
 * every round and after every restart from a checkpoint. `theirs` is the query for PostgreSQL if it has other words.
 */
export async function compareStanding(
  postgres: Postgres,
  sql: string,
  steps: readonly Step[],
  kind: "stream" | "changelog",
  theirs = sql,
): Promise<Outcome> {
  let plan: Plan;
  try {
    const defined = await planDefinition(sql, { t0: SCHEMA, u0: SCHEMA });
    assert.ok("plan" in defined);
    plan = defined.plan;
  } catch (error) {
    if (error instanceof HeadwaterError) return { refused: error.message };
    throw error;
  }
  const input = kind === "stream" ? stream(SCHEMA) : changelog(SCHEMA);
  const running = new Running(plan, { emit: "changes", inputs: { t0: input, u0: input } });
  const present: Record<string, (readonly Cell[])[]> = { t0: [], u0: [] };
  let compared = 0;
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
    const about = `${theirs}\n${JSON.stringify(present, (_, each) => (typeof each === "bigint" ? String(each) : each))}`;
    const expected = await answered(postgres, theirs, present, plan);
    const { first } = running.query.errors;
    // PostgreSQL refuses the whole answer where the engine leaves out a row, and need not compute what decides nothing.
    if (first !== null) return { failed: first.message };
    if (typeof expected === "string" && /^2[12]/.test(expected)) return { failed: expected };
    assert.ok(typeof expected !== "string", `PostgreSQL refuses with ${String(expected)}\n${about}`);
    assert.deepEqual(summed(running, plan), expected, about);
    compared++;
  }
  return { compared };
}

async function answered(
  postgres: Postgres,
  sql: string,
  present: Readonly<Record<string, readonly (readonly Cell[])[]>>,
  plan: Plan,
): Promise<string[] | string> {
  await postgres.client.query(
    Object.entries(present)
      .map(([name, rows]) => {
        const values = rows.map((row) => `(${row.map((cell, i) => literal(cell, SCHEMA[i])).join(", ")})`);
        return `truncate ${name};${values.length === 0 ? "" : `insert into ${name} values ${values.join(", ")};`}`;
      })
      .join("\n"),
  );
  try {
    const { rows, fields } = await postgres.ask(sql);
    return rows
      .map((row) =>
        row
          .map((cell, i) => shown(cell, TYPE_IDS[fields[i]?.dataTypeID ?? 0] ?? "text", plan.columns[i]))
          .join(" | "),
      )
      .sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
    throw error;
  }
}

function literal(cell: Cell, spec: Schema[number] | undefined): string {
  if (cell === null) return "null";
  if (spec?.type === "timestamp") return `'${timestampText(Number(cell))}'`;
  const text = spec?.type === "numeric" ? numericText(cell as Scaled, spec.scale) : String(cell);
  return `'${text.replaceAll("'", "''")}'`;
}

/** What was emitted, added up: each row as often as its weights say. */
function summed(running: Running, plan: Plan): string[] {
  const counts = new Map<string, number>();
  for (const { row, weight } of running.emitted) {
    const text = row
      .map((cell, i) => {
        const spec = plan.columns[i];
        const value =
          cell === null ? null : spec?.type === "numeric" ? numericText(cell as Scaled, spec.scale) : cell;
        return shown(value, null, spec);
      })
      .join(" | ");
    counts.set(text, (counts.get(text) ?? 0) + weight);
  }
  const negative = [...counts].find(([, count]) => count < 0);
  assert.equal(negative, undefined, "a row was taken back that was never there");
  return [...counts].flatMap(([text, count]) => Array.from({ length: count }, () => text)).sort();
}

/** A value as both write it: decimals with the digits that both have, times as milliseconds, arrays as JSON. */
function shown(cell: Cell, type: string | null, spec: Schema[number] | undefined): string {
  if (cell === null) return "null";
  switch (spec?.type) {
    case "numeric":
    case "float":
    case "int":
      return String(Number(Number(cell).toPrecision(12)) + 0);
    case "timestamp":
      return typeof cell === "string"
        ? `${cell} 00:00:00`.slice(0, cell.includes(":") ? cell.length : 19)
        : timestampText(Number(cell));
    case "bool":
      return String(cell === true || cell === "t");
    case "json":
      return JSON.stringify(
        sorted(type?.endsWith("[]") === true ? arrayOf(String(cell), type) : JSON.parse(String(cell))),
      );
    default:
      return JSON.stringify(cell);
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]) => [key, sorted(each)] as const)
      .sort(),
  );
}

/** The elements of an array as PostgreSQL writes it: `{1,NULL,"a b"}`. */
function arrayOf(text: string, type: string): unknown[] {
  const elements = [...text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)];
  return elements.map(([whole, quoted]) => {
    if (quoted !== undefined) return quoted.replace(/\\(.)/g, "$1");
    if (whole === "NULL") return null;
    return type.startsWith("text") ? whole : type.startsWith("bool") ? whole === "t" : Number(whole);
  });
}
