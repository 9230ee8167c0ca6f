import type { RowErrors } from "../codegen/index.js";
import type { Batch, Schema } from "../columns/index.js";
import { type InputSpec, type Plan, pruned, retains, type TimeBound } from "../plan/index.js";
import { Registers } from "../tables/index.js";
import { assemble, unitRow } from "./assemble.js";
import { Checkpoints } from "./checkpoints.js";
import type { LateRows } from "./late.js";
import { Site } from "./site.js";

/** A query that stands: rows go in as they come, and changes of its result come out with each round. */
export interface StandingQuery {
  readonly columns: Schema;
  /** Results never carry a negative weight. */
  readonly isAppendOnly: boolean;
  /** The column of the results that follows the watermark which they are given with, if there is one. */
  readonly timeColumn: number | null;
  /** Rows that were left out because an expression refused them. */
  readonly errors: RowErrors;
  readonly late: LateRows;
  push(table: string, batch: Batch): void;
  /** No row of the table with an event time below comes any more, or it is late. */
  watermark(table: string, timeMs: number): void;
  /** The end of a round: changes since the last one are emitted. */
  flush(): void;
  readonly memoryBytes: number;
  /** What changed since the last checkpoint or load, as named parts; `null` deletes a part. Only between rounds. */
  checkpoint(): Iterable<readonly [name: string, bytes: Uint8Array | null]>;
  /** A fresh query takes the parts of a checkpoint, and goes on as the query that wrote them. */
  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void;
}

export interface StandingOptions {
  readonly emit: "changes" | "on window close";
  readonly inputs: Readonly<Record<string, InputSpec>>;
  /** How much later than the watermark rows may still come. */
  readonly latenessMs?: number;
}

export interface StandingConsumer {
  rows(batch: Batch): void;
  /** No row comes any more whose value in the results' time column is below. */
  watermark(timeMs: number): void;
}

/** Builds the operators of a standing query; `consume` gets its results. */
export function standingQuery(
  query: Plan,
  { emit, inputs, latenessMs = 0 }: StandingOptions,
  consume: StandingConsumer,
): StandingQuery {
  const plan = pruned(query);
  const site = new Site(emit, inputs, retains(plan));
  const { isAppendOnly, bounds } = site.traits(plan);
  const time = nearest(bounds);
  const entries = assemble(plan, site, {
    push: (batch) => consume.rows(batch),
    flush: () => {},
    watermark: (timeMs) => {
      if (time !== null && timeMs < Number.POSITIVE_INFINITY) consume.watermark(timeMs - time.delayMs);
    },
    end: () => {},
  });
  const units = entries.filter(({ table }) => table === null).map(({ operator }) => operator);
  const started = new Registers(0);
  if (units.length > 0) site.keep(started);
  let isUnbound = units.length === 0;
  /** The row of a query without FROM is there from the first round on, and nothing comes after it. */
  const begin = () => {
    if (isUnbound) return;
    isUnbound = true;
    for (const unit of units) {
      if (started.values[0] === 0) unit.push(unitRow());
      unit.watermark(Number.POSITIVE_INFINITY);
    }
    started.values[0] = 1;
  };
  const checkpoints = new Checkpoints(site.kept);
  return {
    columns: plan.columns,
    isAppendOnly,
    timeColumn: time?.index ?? null,
    errors: site.errors,
    late: site.late,
    push(table, batch) {
      begin();
      for (const entry of entries) if (entry.table === table) entry.operator.push(batch);
    },
    watermark(table, timeMs) {
      begin();
      for (const entry of entries) if (entry.table === table) entry.operator.watermark(timeMs - latenessMs);
    },
    flush() {
      begin();
      for (const { operator } of entries) operator.flush();
    },
    get memoryBytes() {
      return checkpoints.memoryBytes;
    },
    checkpoint: () => checkpoints.take(),
    load(parts) {
      checkpoints.load(parts);
      site.loaded();
    },
  };
}

/** The column that follows the watermark most closely. */
function nearest(bounds: readonly TimeBound[]): TimeBound | null {
  return bounds.reduce<TimeBound | null>(
    (best, bound) => (best === null || bound.delayMs < best.delayMs ? bound : best),
    null,
  );
}
