import { HeadwaterError } from "../../errors.js";
import { type Batch, decodeBatch, type Schema } from "../columns/index.js";
import type { SnapshotTable } from "../graph/index.js";
import { startQuery } from "../operators/index.js";
import type { Plan } from "../plan/index.js";
import type { QueryShape } from "../sql/index.js";

/** What one query over tables and views may take. */
export interface QueryLimits {
  /** Of the rows that it reads, and again of its answer. */
  readonly bytes: number;
  readonly ms: number;
  /** How many queries of a tenant run at a time, and how many may wait for their turn. */
  readonly running: number;
  readonly waiting: number;
}

export const QUERY_LIMITS: QueryLimits = { bytes: 256 * 1024 * 1024, ms: 10_000, running: 2, waiting: 100 };

/** What a query answers: rows as columns, whose SQL types are beside their schema. */
export interface QueryAnswer extends QueryShape {
  readonly schema: Schema;
  readonly batches: readonly Batch[];
}

/** So long a query runs before others get their turn. */
const SLICE_MS = 10;
/** A join without equal columns pairs each row with each. */
const PAIRS_MAX = 20_000_000;
const CELL_BYTES = 16;

/** Queries of one tenant take turns, so that a tenant with many of them slows only itself. */
export class Turns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(readonly limits: QueryLimits) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.limits.running) {
      if (this.#waiting.length >= this.limits.waiting)
        throw new HeadwaterError(
          "HW-5512",
          `${this.limits.waiting} queries of the tenant wait for their turn. Try again later.`,
        );
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** Runs a plan over the rows of a snapshot, in slices between which the process does other things. */
export async function answered(
  plan: Plan,
  tables: readonly SnapshotTable[],
  limits: QueryLimits,
): Promise<readonly Batch[]> {
  refuseProducts(plan, new Map(tables.map(({ name, rows }) => [name, rows])));
  const results: Batch[] = [];
  let bytes = 0;
  const query = startQuery(plan, (batch) => {
    bytes += bytesOf(batch, plan.columns);
    if (bytes > limits.bytes) throw tooMuch(`answers with more than ${limits.bytes} bytes`);
    results.push(batch);
  });
  const began = performance.now();
  let slice = began;
  for (const { name, columns, batches } of tables)
    for (const encoded of batches) {
      if (query.isDone) break;
      query.push(name, decodeBatch(Buffer.from(encoded), columns, Number.POSITIVE_INFINITY));
      const now = performance.now();
      if (now - began > limits.ms) throw tooMuch(`runs for more than ${limits.ms} ms`);
      if (now - slice < SLICE_MS) continue;
      await new Promise<void>((resolve) => setImmediate(resolve));
      slice = performance.now();
    }
  query.end();
  const { count, first } = query.errors;
  if (count > 0) throw new HeadwaterError("HW-5511", `the query failed on a row: ${first?.message}.`);
  return results;
}

function tooMuch(what: string): HeadwaterError {
  return new HeadwaterError(
    "HW-5512",
    `the query ${what}. Ask for less with WHERE, LIMIT or GROUP BY, or keep what is asked often in a view.`,
  );
}

function bytesOf(batch: Batch, columns: Schema): number {
  let bytes = batch.rows * columns.length * CELL_BYTES;
  for (const [index, { type }] of columns.entries())
    if (type === "text" || type === "json")
      for (let row = 0; row < batch.rows; row++) bytes += String(batch.cell(row, index) ?? "").length;
  return bytes;
}

/** Returns at most how many rows come out, and refuses joins that would pair too many. */
function refuseProducts(plan: Plan, rows: ReadonlyMap<string, number>): number {
  switch (plan.kind) {
    case "scan":
      return rows.get(plan.table) ?? 0;
    case "join": {
      const [left, right] = [refuseProducts(plan.left, rows), refuseProducts(plan.right, rows)];
      if (plan.leftKeys.length > 0) return Math.max(left, right);
      if (left * right > PAIRS_MAX)
        throw tooMuch(`pairs ${left} rows with ${right}, because it joins them by no equal columns, and so`);
      return left * right;
    }
    case "union":
      return plan.inputs.reduce((sum, input) => sum + refuseProducts(input, rows), 0);
    case "unit":
      return 1;
    default:
      return refuseProducts(plan.input, rows);
  }
}
