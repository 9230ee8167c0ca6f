import { HeadwaterError } from "../../errors.js";
import { groupIds, type RowOrder, rowOrder, specOf } from "../codegen/index.js";
import { type Batch, gathered, type NumberColumn } from "../columns/index.js";
import type { Plan, TimeBound } from "../plan/index.js";
import { type Compare, KeyedTable, Registers, SlotRows, SortedSlots } from "../tables/index.js";
import { Forgetting, isBefore } from "./forgetting.js";
import type { Operator } from "./operator.js";
import { OverResults, type Prefix } from "./over-results.js";
import { orderOf, totalOrderOf } from "./row-order.js";
import type { Site } from "./site.js";
import { Windows } from "./windows.js";

export type OverPlan = Extract<Plan, { kind: "over" }>;

const EMPTY: Prefix = { slots: [], weights: [] };

/**
 * Functions with OVER, top-n, DISTINCT ON, and ORDER BY with LIMIT. Rows are kept by partition, each partition in its order.
 * At the end of a round, what the changed partitions gave before it and what they give now are compared, and the
 * difference is emitted; for that, the rows that a partition had at the beginning of the round stay until its end.
 *
 * A row that is beyond the limit of a top-n comes back only if one before it is taken back. Where rows are never taken back it is
 * dropped at once, so a partition keeps at most as many rows as it gives.
 *
 * If a key of the partitions follows the watermark, complete partitions are freed, and rows that come for them are late.
 * EMIT ON WINDOW CLOSE emits them then, once. With a retention, rows that are too old are taken back.
 */
export class Over implements Operator {
  readonly #plan: OverPlan;
  readonly #site: Site;
  readonly #next: Operator;
  readonly #rows: SlotRows;
  readonly #partitions: KeyedTable;
  readonly #lists: (SortedSlots | undefined)[] = [];
  readonly #groupIds: ReturnType<typeof groupIds>;
  readonly #compare: RowOrder;
  readonly #total: Compare;
  readonly #results: OverResults;
  readonly #bound: TimeBound | null;
  readonly #windows: Windows | null;
  readonly #registers = new Registers(Number.NEGATIVE_INFINITY);
  /** No partition needs more rows, and a row beyond them never comes back. */
  readonly #most: number;
  readonly #forgetting: Forgetting | null;
  /** What the partitions that this round changed gave before it. */
  readonly #before = new Map<number, Prefix>();
  #dropped: number[] = [];
  /** Rows whose weight became 0, with their partitions. */
  readonly #emptied = new Map<number, number>();
  #ids = new Int32Array(1024);

  constructor(plan: OverPlan, site: Site, next: Operator) {
    [this.#plan, this.#site, this.#next] = [plan, site, next];
    const { columns } = plan.input;
    const bounds = site.mode === "once" ? [] : site.traits(plan).bounds;
    this.#bound = bounds.toSorted((a, b) => a.delayMs - b.delayMs)[0] ?? null;
    if (site.mode === "on window close" && this.#bound === null)
      throw new HeadwaterError(
        "HW-5102",
        "EMIT ON WINDOW CLOSE needs a window of the stream's event time among the columns of PARTITION BY. Partition by window_start, or use EMIT CHANGES.",
      );
    this.#windows = this.#bound === null ? null : new Windows();
    this.#rows = new SlotRows(columns);
    const keys = plan.keys.map((index, i) =>
      specOf(`key${i}`, columns[index] ?? { type: "int", nullable: true, scale: 0 }),
    );
    this.#partitions = new KeyedTable(keys, keys.length);
    this.#groupIds = groupIds(columns, plan.keys);
    this.#compare = rowOrder(columns, plan.order, true);
    this.#total = totalOrderOf(columns, this.#rows.columns, plan.order);
    const order = orderOf(columns, this.#rows.columns, plan.order);
    this.#results = new OverResults(plan, this.#rows, order, site.mode === "once");
    const { cut } = plan;
    const isForgetting = site.mode !== "once" && plan.retention !== undefined;
    const isGrowing = site.mode === "once" || (site.traits(plan.input).isAppendOnly && !isForgetting);
    this.#most =
      isGrowing && cut?.by === "row_number" && cut.limit !== null
        ? cut.offset + cut.limit
        : Number.POSITIVE_INFINITY;
    if (site.mode !== "once") this.#keep();
    this.#forgetting =
      site.mode === "once" || plan.retention === undefined ? null : new Forgetting(plan.retention, site);
  }

  #keep(): void {
    for (const state of [this.#registers, this.#partitions, this.#rows]) this.#site.keep(state);
    this.#site.onLoad(() => {
      const slots = this.#rows.live();
      const ids = new Int32Array(slots.length);
      this.#groupIds(
        gathered(this.#rows.batch, Int32Array.from(slots), this.#plan.input.columns),
        this.#partitions,
        ids,
        0,
      );
      for (const [i, slot] of slots.entries()) this.#list(ids[i] as number).put(slot, this.#total);
    });
  }

  push(given: Batch): void {
    const batch = this.#inTime(given);
    if (batch.rows > this.#ids.length) this.#ids = new Int32Array(2 * batch.rows);
    this.#groupIds(batch, this.#partitions, this.#ids, 0);
    for (let row = 0; row < batch.rows; row++) this.#add(batch, row, this.#ids[row] as number);
  }

  flush(): void {
    this.#emitChanges();
    this.#next.flush();
  }

  watermark(timeMs: number): void {
    this.#registers.values[0] = timeMs;
    this.#emitChanges();
    this.#close();
    this.#forgetRows(timeMs);
    this.#next.watermark(timeMs);
  }

  #forgetRows(watermark: number): void {
    const horizon = this.#forgetting?.advance(watermark) ?? null;
    if (horizon === null || this.#forgetting === null) return;
    const isOld = isBefore(this.#rows.columns[this.#forgetting.retention.time], horizon);
    const old = this.#rows.live().filter(isOld);
    if (old.length === 0) return;
    const taken = gathered(this.#rows.batch, Int32Array.from(old), this.#plan.input.columns);
    taken.weights = Int32Array.from(old, (slot) => -this.#rows.weight(slot));
    this.push(taken);
    this.#emitChanges();
  }

  end(): void {
    for (const [partition, list] of this.#lists.entries())
      if (list !== undefined) this.#results.change(EMPTY, this.#prefix(partition));
    this.#pass();
    this.#next.end();
  }

  /** The rows whose partitions are not complete; the others are late. */
  #inTime(batch: Batch): Batch {
    if (this.#bound === null) return batch;
    const { values, nulls } = batch.columns[this.#bound.index] as NumberColumn;
    const [taken, late]: [number[], number[]] = [[], []];
    for (let row = 0; row < batch.rows; row++)
      (nulls?.[row] !== 1 && this.#isClosed(values[row] as number) ? late : taken).push(row);
    if (late.length === 0) return batch;
    this.#site.late.add(gathered(batch, Int32Array.from(late), batch.schema));
    const kept = gathered(batch, Int32Array.from(taken), batch.schema);
    if (batch.weights !== null) kept.weights = Int32Array.from(taken, (row) => batch.weight(row));
    return kept;
  }

  #isClosed(key: number): boolean {
    const end = key + (this.#bound?.delayMs ?? 0);
    const watermark = this.#registers.values[0] as number;
    return end < watermark || (this.#bound?.isStrict === true && end === watermark);
  }

  #list(partition: number): SortedSlots {
    let list = this.#lists[partition];
    if (list === undefined) {
      list = new SortedSlots();
      this.#lists[partition] = list;
      const key = this.#bound === null ? undefined : this.#partitions.columns[this.#keyOf(this.#bound)];
      if (key?.storage === "number" && key.nulls?.[partition] !== 1)
        this.#windows?.open(key.values[partition] as number, partition);
    }
    return list;
  }

  #keyOf(bound: TimeBound): number {
    return this.#plan.keys.indexOf(bound.index);
  }

  #add(batch: Batch, row: number, partition: number): void {
    const rows = this.#rows;
    const list = this.#list(partition);
    const { columns } = batch;
    // Most rows of a top-n are beyond it, and are not copied.
    if (
      list.length >= this.#most &&
      (this.#most === 0 || this.#compare(row, columns, list.last, rows.columns) > 0)
    )
      return;
    const slot = rows.take();
    for (let i = 0; i < columns.length; i++) rows.write(i, slot, columns[i] as Batch["columns"][number], row);
    this.#note(partition);
    const weight = batch.weights === null ? 1 : (batch.weights[row] as number);
    const same = list.put(slot, this.#total);
    if (same < 0) rows.begin(slot, weight);
    else {
      rows.giveBack(slot);
      if (rows.addWeight(same, weight) === 0) this.#emptied.set(same, partition);
    }
    if (list.length > this.#most) this.#drop(list.removeLast());
  }

  /** Remembers what a partition gave before the round. */
  #note(partition: number): void {
    if (this.#site.mode === "changes" && !this.#before.has(partition))
      this.#before.set(partition, this.#prefix(partition));
  }

  #prefix(partition: number): Prefix {
    const list = this.#lists[partition];
    return list === undefined || list.length === 0 ? EMPTY : this.#results.prefix(list);
  }

  #emitChanges(): void {
    this.#removeEmptied();
    for (const [partition, before] of this.#before) this.#results.change(before, this.#prefix(partition));
    this.#pass();
    for (const slot of this.#dropped) this.#rows.remove(slot);
    this.#dropped = [];
    for (const partition of this.#before.keys())
      if (this.#lists[partition]?.length === 0) this.#forget(partition);
    this.#before.clear();
    this.#partitions.settle();
  }

  /** Rows that were taken back go when the round ends: within it they may come again. */
  #removeEmptied(): void {
    for (const [slot, partition] of this.#emptied) {
      if (this.#rows.weight(slot) !== 0) continue;
      this.#lists[partition]?.remove(slot, this.#total);
      this.#drop(slot);
    }
    this.#emptied.clear();
  }

  /** A row goes; what a partition gave at the beginning of the round stays until its end. */
  #drop(slot: number): void {
    if (this.#site.mode === "changes") this.#dropped.push(slot);
    else this.#rows.remove(slot);
  }

  #forget(partition: number): void {
    if (this.#lists[partition] === undefined) return;
    this.#lists[partition] = undefined;
    this.#partitions.remove(partition);
  }

  #close(): void {
    if (this.#windows === null || this.#bound === null) return;
    const complete = this.#windows.close(
      (key) => this.#isClosed(key),
      this.#partitions,
      this.#keyOf(this.#bound),
    );
    if (this.#site.mode === "on window close")
      for (const partition of complete) this.#results.change(EMPTY, this.#prefix(partition));
    this.#pass();
    for (const partition of complete) {
      this.#lists[partition]?.each((slot) => {
        this.#rows.remove(slot);
        return true;
      });
      this.#forget(partition);
    }
    this.#partitions.settle();
  }

  #pass(): void {
    const batch = this.#results.take();
    if (batch !== null) this.#next.push(batch);
  }
}
