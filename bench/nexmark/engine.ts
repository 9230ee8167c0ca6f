import type { Batch } from "#src/streams/columns/index.js";
import { type StandingQuery, standingQuery, startQuery } from "#src/streams/operators/index.js";
import type { InputSpec } from "#src/streams/plan/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import type { EngineRun } from "./durable.js";
import { type Events, SCHEMAS, type TableName } from "./events.js";

export type Batches = Readonly<Record<TableName, readonly Batch[]>>;
type Run = (batches: Batches, consume: (batch: Batch) => void) => void;

const STREAMS = ["person", "auction", "bid"] as const satisfies readonly (keyof Events)[];

/** A query of the engine over events that were read already; each call runs it from its beginning to its end. */
export async function engineOf(sql: string): Promise<Run> {
  const plan = await planQuery(sql, SCHEMAS);
  return (batches, consume) => {
    const query = startQuery(plan, consume);
    inTurn(
      batches,
      (table, batch) => query.push(table, batch),
      () => {},
    );
    query.end();
    if (query.errors.first !== null) throw new Error(query.errors.first.message);
  };
}

/** The same with its CPU time and what its results add up to, which are counted and dropped. */
export async function countedRun(
  sql: string,
  form: "once" | "standing",
  emit: StandingRun["emit"],
  batches: Batches,
): Promise<() => EngineRun> {
  const run = form === "once" ? await engineOf(sql) : await standingOf(sql, { emit, latenessMs: 0 });
  return () => {
    let results = 0;
    const before = process.cpuUsage();
    run(batches, (batch) => {
      results += weightOf(batch);
    });
    const { user, system } = process.cpuUsage(before);
    return { cpuSeconds: (user + system) / 1e6, results };
  };
}

/** How many rows a batch adds, less those that it takes back. */
function weightOf({ rows, weights }: Batch): number {
  if (weights === null) return rows;
  let sum = 0;
  for (let i = 0; i < rows; i++) sum += weights[i] as number;
  return sum;
}

export const TIMES: Readonly<Record<(typeof STREAMS)[number], number>> = { person: 6, auction: 5, bid: 5 };

export interface StandingRun {
  readonly emit: "changes" | "on window close";
  /** How long behind the greatest time of a stream its watermark is. */
  readonly latenessMs: number;
  /** Between two rounds, for what a test does to a query. */
  readonly between?: (query: StandingQuery, restarted: () => StandingQuery) => StandingQuery;
}

/** The same as a standing query: a round per turn, with the watermark behind it, and one far behind all events at the end. */
export async function standingOf(sql: string, { emit, latenessMs, between }: StandingRun): Promise<Run> {
  const plan = await planQuery(sql, SCHEMAS);
  const inputs: Record<string, InputSpec> = {
    side_input: { schema: SCHEMAS.side_input, timeColumn: null, kind: "table", key: [0] },
  };
  for (const table of STREAMS)
    inputs[table] = { schema: SCHEMAS[table], timeColumn: TIMES[table], kind: "stream", key: [] };
  return (batches, consume) => {
    const start = () => standingQuery(plan, { emit, inputs }, { rows: consume, watermark: () => {} });
    let query = start();
    const greatest = { person: 0, auction: 0, bid: 0 };
    const round = () => {
      for (const table of STREAMS) query.watermark(table, greatest[table] - latenessMs);
      query.flush();
      if (between !== undefined) query = between(query, start);
    };
    inTurn(
      batches,
      (table, batch) => {
        query.push(table, batch);
        if (table !== "side_input") greatest[table] = Math.max(greatest[table], latest(batch, TIMES[table]));
      },
      round,
    );
    for (const table of STREAMS) greatest[table] += 86_400_000;
    round();
    if (query.errors.first !== null) throw new Error(query.errors.first.message);
    if (query.late.count > 0) throw new Error(`${query.late.count} rows were late.`);
  };
}

function latest(batch: Batch, index: number): number {
  const column = batch.columns[index];
  if (column?.storage !== "number") return Number.NEGATIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < batch.rows; i++) most = Math.max(most, column.values[i] as number);
  return most;
}

/** In the order of time: the table first, then the parts of the three streams in turn. */
export function inTurn(
  batches: Batches,
  push: (table: TableName, batch: Batch) => void,
  round: () => void,
): void {
  for (const batch of batches.side_input) push("side_input", batch);
  const most = Math.max(...STREAMS.map((table) => batches[table].length));
  for (let i = 0; i < most; i++) {
    for (const table of STREAMS) {
      const place = (turn: number) => Math.floor((turn * batches[table].length) / most);
      const batch = batches[table][place(i)];
      if (batch !== undefined && (i === 0 || place(i - 1) !== place(i))) push(table, batch);
    }
    round();
  }
}
