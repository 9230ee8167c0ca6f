import { groupIds, type RowOrder, rowOrder, specOf } from "../codegen/index.js";
import { type Batch, gathered, widened } from "../columns/index.js";
import { KeyedTable, Registers, SlotRows } from "../tables/index.js";
import type { Operator } from "./operator.js";
import type { OverPlan } from "./over.js";
import type { Site } from "./site.js";
import { SlotResults } from "./slot-results.js";

/**
 * The first row of each partition (`ROW_NUMBER() … = 1`, DISTINCT ON), where rows are never taken back and partitions are never
 * complete. It keeps the first row of each, and until the end of a round the row that was first before it. The rows of a batch are
 * compared with each other before, so that a partition with many of them copies one.
 */
export class FirstRows implements Operator {
  readonly #rows: SlotRows;
  readonly #partitions: KeyedTable;
  readonly #groupIds: ReturnType<typeof groupIds>;
  readonly #compare: RowOrder;
  readonly #results: SlotResults;
  readonly #values: readonly number[];
  /** By partition: its slot, and that at the beginning of the round; counted from 1. */
  #current = new Int32Array(64);
  #before = new Int32Array(64);
  /** By partition: the first of the batch's rows so far, counted from 1. */
  #best = new Int32Array(64);
  #changed: number[] = [];
  #ids = new Int32Array(1024);

  constructor(
    readonly plan: OverPlan,
    site: Site,
    readonly next: Operator,
  ) {
    const { columns } = plan.input;
    this.#rows = new SlotRows(columns);
    const keys = plan.keys.map((index, i) =>
      specOf(`key${i}`, columns[index] ?? { type: "int", nullable: true, scale: 0 }),
    );
    this.#partitions = new KeyedTable(keys, keys.length);
    this.#groupIds = groupIds(columns, plan.keys);
    this.#compare = rowOrder(columns, plan.order, true);
    this.#results = new SlotResults(plan.columns, this.#rows, false);
    this.#values = plan.functions.map(() => 1);
    // The same parts as those of `Over`.
    for (const state of [new Registers(Number.NEGATIVE_INFINITY), this.#partitions, this.#rows])
      site.keep(state);
    site.onLoad(() => this.#restore());
  }

  /** Whether this operator gives what a plan says. */
  static fits(plan: OverPlan, site: Site): boolean {
    const { cut, functions, retention } = plan;
    return (
      site.mode === "changes" &&
      cut?.by === "row_number" &&
      cut.offset === 0 &&
      cut.limit === 1 &&
      retention === undefined &&
      functions.every((each) => each.kind === "rank") &&
      site.traits(plan.input).isAppendOnly &&
      site.traits(plan).bounds.length === 0
    );
  }

  #restore(): void {
    const slots = Int32Array.from(this.#rows.live());
    const ids = new Int32Array(slots.length);
    this.#groupIds(gathered(this.#rows.batch, slots, this.plan.input.columns), this.#partitions, ids, 0);
    this.#reserve();
    for (let i = 0; i < slots.length; i++) this.#current[ids[i] as number] = (slots[i] as number) + 1;
  }

  #reserve(): void {
    const { rows } = this.#partitions;
    if (rows <= this.#current.length) return;
    const capacity = Math.max(rows, 2 * this.#current.length);
    this.#current = widened(this.#current, new Int32Array(capacity));
    this.#before = widened(this.#before, new Int32Array(capacity));
    this.#best = widened(this.#best, new Int32Array(capacity));
  }

  push(batch: Batch): void {
    if (batch.rows > this.#ids.length) this.#ids = new Int32Array(2 * batch.rows);
    this.#groupIds(batch, this.#partitions, this.#ids, 0);
    this.#reserve();
    const met = this.#firstOf(batch);
    const [rows, slots] = [new Int32Array(met.length), new Int32Array(met.length)];
    for (let i = 0; i < met.length; i++) {
      const partition = met[i] as number;
      rows[i] = (this.#best[partition] as number) - 1;
      this.#best[partition] = 0;
      slots[i] = this.#slotOf(partition);
    }
    this.#rows.copy(batch.columns, rows, slots);
    for (const slot of slots) this.#rows.begin(slot, 1);
  }

  /** The partitions whose first row is one of the batch now; `#best` has it. */
  #firstOf({ columns, rows }: Batch): readonly number[] {
    const [ids, best, current, own] = [this.#ids, this.#best, this.#current, this.#rows.columns];
    const met: number[] = [];
    for (let row = 0; row < rows; row++) {
      const partition = ids[row] as number;
      const known = best[partition] as number;
      if (known !== 0) {
        if (this.#compare(row, columns, known - 1, columns) < 0) best[partition] = row + 1;
        continue;
      }
      const slot = current[partition] as number;
      if (slot !== 0 && this.#compare(row, columns, slot - 1, own) >= 0) continue;
      best[partition] = row + 1;
      met.push(partition);
    }
    return met;
  }

  /** Where the new first row of a partition goes: a row that was first before the round stays until its end. */
  #slotOf(partition: number): number {
    if (!this.#partitions.note(partition)) return (this.#current[partition] as number) - 1;
    this.#changed.push(partition);
    this.#before[partition] = this.#current[partition] as number;
    const slot = this.#rows.take();
    this.#current[partition] = slot + 1;
    return slot;
  }

  flush(): void {
    this.#emit();
    this.next.flush();
  }

  watermark(timeMs: number): void {
    this.#emit();
    this.next.watermark(timeMs);
  }

  end(): void {
    this.next.end();
  }

  #emit(): void {
    if (this.#changed.length === 0) return;
    for (const partition of this.#changed) {
      const before = this.#before[partition] as number;
      if (before !== 0) this.#results.add(before - 1, -1, this.#values);
      this.#results.add((this.#current[partition] as number) - 1, 1, this.#values);
    }
    const batch = this.#results.take();
    if (batch !== null) this.next.push(batch);
    for (const partition of this.#changed) {
      const before = this.#before[partition] as number;
      if (before !== 0) this.#rows.remove(before - 1);
      this.#partitions.forget(partition);
    }
    this.#changed = [];
    this.#partitions.settle();
  }
}
