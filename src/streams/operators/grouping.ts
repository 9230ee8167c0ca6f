import { HeadwaterError } from "../../errors.js";
import { type Groups, groupRow, transform, type Update, updateGroups } from "../codegen/index.js";
import { type Batch, cancelled, gathered, interleaved, type Schema } from "../columns/index.js";
import type { Plan, RowStep, TimeBound } from "../plan/index.js";
import { Registers } from "../tables/index.js";
import { Forgetting, isBefore } from "./forgetting.js";
import { GroupState } from "./group-state.js";
import type { Operator } from "./operator.js";
import { Round } from "./round.js";
import type { Site } from "./site.js";
import { Windows } from "./windows.js";

/**
 * GROUP BY and DISTINCT. The state is a table with a row per group; the rows of the result are made of it by one function,
 * with HAVING and the projection behind it fused in. When they are made depends on the query:
 *
 * - One-shot: when the input ends, from all groups.
 * - EMIT CHANGES: at the end of a round, from the groups that it changed: the row that was, made of the state before the
 *   round, and the row that is. A pair of equal rows is left out. A group whose last row was taken back is removed.
 * - EMIT ON WINDOW CLOSE: when the watermark completes the groups of a window, which are removed then.
 *
 * If a key follows the watermark, groups that are complete are removed in both cases, and rows that come for them are
 * late. With a retention, a group whose latest row is too old leaves the result.
 */
export class Grouping implements Operator {
  readonly #update: Update;
  readonly #result: ReturnType<typeof transform>;
  readonly #state: GroupState;
  readonly #groups: Groups & { readonly round: Round | null; readonly windows: Windows | null };
  readonly #bound: TimeBound | null;
  /** The watermark, and whether the one group without keys was emitted. */
  readonly #registers = new Registers(Number.NEGATIVE_INFINITY, 0);
  readonly #hasOne: boolean;
  readonly #forgetting: Forgetting | null;

  constructor(
    plan: Extract<Plan, { kind: "aggregate" }>,
    before: { readonly input: Plan; readonly steps: readonly RowStep[] },
    after: { readonly steps: readonly RowStep[]; readonly output: Schema },
    readonly site: Site,
    readonly next: Operator,
  ) {
    const { keys, aggregates } = plan;
    const isOnce = site.mode === "once";
    const bounds = isOnce ? [] : site.traits(plan).bounds;
    this.#bound = bounds.reduce<TimeBound | null>(
      (best, each) => (best === null || each.delayMs < best.delayMs ? each : best),
      null,
    );
    if (site.mode === "on window close" && this.#bound === null)
      throw new HeadwaterError(
        "HW-5102",
        "EMIT ON WINDOW CLOSE needs a GROUP BY over a window of the stream's event time. Group by window_start, or use EMIT CHANGES.",
      );
    const retracts = !site.traits(plan.input).isAppendOnly;
    this.#hasOne = keys.length === 0;
    this.#state = new GroupState(plan, retracts, this.#bound !== null || retracts);
    const { table, columns, values, seen } = this.#state;
    const notes = site.mode === "changes";
    const closing = this.#bound === null ? null : { key: this.#bound.index, isStrict: this.#bound.isStrict };
    this.#update = updateGroups(before.input.columns, before.steps, keys, aggregates, columns, {
      notes,
      closing,
    });
    this.#result = transform(columns.schema, after.steps, after.output, (code, row) =>
      groupRow(code, aggregates, columns, row),
    );
    this.#groups = {
      table,
      seen,
      values,
      round: notes ? new Round(table) : null,
      windows: closing === null ? null : new Windows(),
      closed: Number.NEGATIVE_INFINITY,
      late: [],
    };
    // Without keys there is one group, whether rows come or not.
    if (this.#hasOne) table.put(columns.schema.map(({ nullable }) => (nullable ? null : 0)));
    if (!isOnce) this.#keep();
    this.#forgetting = isOnce || plan.retention === undefined ? null : new Forgetting(plan.retention, site);
  }

  #keep(): void {
    const { table, values } = this.#state;
    this.site.keep(this.#registers);
    this.site.keep(table);
    for (const [i, each] of values.entries()) {
      if (each !== null) this.site.keep(each);
      else if (this.#state.seen[i]) this.site.keep(this.#state.seen[i]);
    }
    this.site.onLoad(() => {
      this.#groups.closed = this.#closedAt(this.#registers.values[0] as number);
      if (this.#bound !== null) this.#groups.windows?.build(table, this.#bound.index);
    });
  }

  #closedAt(watermark: number): number {
    return watermark - (this.#bound?.delayMs ?? 0);
  }

  push(batch: Batch): void {
    // Results share their texts with the table until the round is over, so texts that no group holds are given up in the next.
    if (this.#groups.round === null || this.#groups.round.count === 0) this.#state.settle();
    this.#update(batch, this.#groups, this.site.errors);
    const { late } = this.#groups;
    if (late.length === 0) return;
    this.site.late.add(gathered(batch, Int32Array.from(late), batch.schema));
    this.#groups.late = [];
  }

  flush(): void {
    this.#emitChanges();
    this.next.flush();
  }

  watermark(timeMs: number): void {
    this.#registers.values[0] = timeMs;
    this.#emitChanges();
    this.#close(timeMs);
    this.#forget(timeMs);
    this.next.watermark(timeMs);
  }

  end(): void {
    const { table } = this.#state;
    for (let row = 0; row < table.rows; row++) this.#state.finish(row);
    this.#emit(this.#result(table.batch, this.site.errors));
    this.next.end();
  }

  #emit(batch: Batch): void {
    if (batch.rows > 0) this.next.push(batch);
  }

  /** The rows before and after the round of the groups that it changed. */
  #emitChanges(): void {
    const { round, table } = this.#groups;
    if (round === null) return;
    const isFirst = this.#hasOne && this.#registers.values[1] === 0;
    if (round.count === 0 && !isFirst) return;
    if (isFirst) this.#firstRow(round);
    const changed = round.rows.subarray(0, round.count);
    const now = new Int32Array(round.count);
    for (let i = 0; i < changed.length; i++) {
      const row = changed[i] as number;
      this.#state.finish(row);
      now[i] = this.#hasOne || this.#state.isThere(row) ? row : -1;
    }
    const pairs = interleaved(round.before, round.olds.subarray(0, round.count), table.batch, now);
    this.#emit(cancelled(this.#result(pairs, this.site.errors)));
    const gone = [...changed].filter((_, i) => now[i] === -1);
    round.clear();
    for (const row of gone) this.#state.remove(row);
  }

  /** The one group without keys is there from the first round on. */
  #firstRow(round: Round): void {
    this.#registers.values[1] = 1;
    round.reserve(1);
    if (round.count > 0) round.olds[0] = -1;
    else {
      round.rows[0] = 0;
      round.olds[0] = -1;
      round.count = 1;
    }
  }

  #forget(watermark: number): void {
    const horizon = this.#forgetting?.advance(watermark) ?? null;
    if (horizon === null || this.#forgetting === null) return;
    const { table, columns } = this.#state;
    const isOld = isBefore(table.columns[columns.places[this.#forgetting.retention.time] ?? 0], horizon);
    const old: number[] = [];
    for (let row = 0; row < table.rows; row++) if (table.isLive(row) && isOld(row)) old.push(row);
    if (old.length === 0) return;
    const nothing = new Int32Array(old.length).fill(-1);
    const taken = interleaved(table.batch, Int32Array.from(old), table.batch, nothing);
    this.#emit(this.#result(taken, this.site.errors));
    for (const row of old) this.#state.remove(row);
  }

  #close(watermark: number): void {
    const { windows } = this.#groups;
    if (windows === null || this.#bound === null) return;
    const closed = this.#closedAt(watermark);
    const { isStrict, index } = this.#bound;
    this.#groups.closed = closed;
    const { table } = this.#state;
    const rows = windows.close((key) => (isStrict ? key <= closed : key < closed), table, index);
    if (rows.length === 0) return;
    if (this.site.mode === "on window close") {
      const there = rows.filter((row) => this.#state.isThere(row));
      for (const row of there) this.#state.finish(row);
      const complete = gathered(table.batch, Int32Array.from(there), table.schema);
      this.#emit(this.#result(complete, this.site.errors));
    }
    for (const row of rows) this.#state.remove(row);
  }
}
