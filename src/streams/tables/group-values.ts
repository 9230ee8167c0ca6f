import { invariant } from "../../errors.js";
import { column, type Schema, widened } from "../columns/index.js";
import { KeyedTable } from "./keyed-table.js";
import type { OperatorState } from "./state.js";

/** The order of two values by the rows that they stand in. */
export type Before = (a: number, b: number) => boolean;

/**
 * The values of groups, each with how often its group has it: what DISTINCT, and aggregates of rows that can be taken back,
 * must remember. A group is known by its row in another table.
 *
 * The values of a group form a pairing heap, whose root is the first of them in the order that was asked for: adding is one
 * comparison, and taking the root off costs the logarithm of their number. Without an order the heap is a list. A value
 * whose count has become 0 stays in the heap until it is the root, or until such values are as many as all others; then the
 * heaps are built anew. The heaps themselves are not written: they follow from the rows.
 */
export class GroupValues implements OperatorState {
  readonly table: KeyedTable;
  readonly #counts: { values: Float64Array };
  readonly #groups: { values: Float64Array };
  readonly #before: Before | null;
  /** Rows are counted from 1, so that 0 is none. */
  #roots = new Int32Array(16);
  #child = new Int32Array(16);
  #sibling = new Int32Array(16);
  #dead = 0;

  constructor(values: Schema, before: ((table: KeyedTable) => Before) | null) {
    const schema = [column("group", "int", false), ...values, column("count", "int", false)];
    this.table = new KeyedTable(schema, schema.length - 1);
    const [groups, counts] = [this.table.columns[0], this.table.columns[schema.length - 1]];
    invariant(groups?.storage === "number" && counts?.storage === "number", "counts are numbers");
    [this.#groups, this.#counts] = [groups, counts];
    this.#before = before === null ? null : before(this.table);
  }

  get memoryBytes(): number {
    const own = this.#roots.byteLength + this.#child.byteLength + this.#sibling.byteLength;
    return this.table.memoryBytes + own;
  }

  /** A value was just inserted into the table, at `row`; it has no count yet. */
  enter(group: number, row: number): void {
    if (row >= this.#child.length) {
      const capacity = Math.max(row + 1, 2 * this.#child.length);
      this.#child = widened(this.#child, new Int32Array(capacity));
      this.#sibling = widened(this.#sibling, new Int32Array(capacity));
    }
    if (group >= this.#roots.length)
      this.#roots = widened(this.#roots, new Int32Array(Math.max(group + 1, 2 * this.#roots.length)));
    this.#counts.values[row] = 0;
    this.#child[row] = 0;
    this.#sibling[row] = 0;
    this.#dead++;
    this.#roots[group] = this.#merged(this.#roots[group] as number, row + 1);
  }

  /** Adds to the count of a value: 1 if the group has it since, -1 if it has it no more, 0 if neither changed. */
  change(row: number, weight: number): number {
    const before = this.#counts.values[row] as number;
    const after = before + weight;
    this.#counts.values[row] = after;
    this.table.touch(row);
    if (before === 0) this.#dead--;
    if (after === 0) this.#dead++;
    return Number(after > 0) - Number(before > 0);
  }

  count(row: number): number {
    return this.#counts.values[row] as number;
  }

  /** The row of the first value of a group in the order, or -1. */
  first(group: number): number {
    for (;;) {
      const root = this.#root(group);
      if (root === 0) return -1;
      const count = this.count(root - 1);
      if (count > 0) return root - 1;
      if (count < 0) return this.#leastOf(group);
      this.#roots[group] = this.#pairs(this.#child[root - 1] as number);
      this.#drop(root - 1);
    }
  }

  /** The rows of all values that a group has, in no order. */
  all(group: number): number[] {
    return this.#members(group).filter((row) => this.count(row) > 0);
  }

  /** A group is gone, and its values with it. */
  release(group: number): void {
    if (this.#root(group) === 0) return;
    for (const row of this.#members(group)) {
      if (this.count(row) === 0) this.#dead--;
      this.table.remove(row);
    }
    this.#roots[group] = 0;
  }

  /** Between rounds: drops values without a count once they are most of the table. */
  settle(): void {
    if (this.#dead > 64 && 2 * this.#dead > this.table.size) {
      for (let row = 0; row < this.table.rows; row++)
        if (this.table.isLive(row) && this.count(row) === 0) this.#drop(row);
      this.#build();
    }
    this.table.settle();
  }

  base(): Buffer {
    return this.table.base();
  }

  delta(): Buffer | null {
    return this.table.delta();
  }

  load(bytes: Buffer): void {
    this.table.load(bytes);
    this.#build();
  }

  #build(): void {
    this.#roots.fill(0);
    this.#dead = 0;
    for (let row = 0; row < this.table.rows; row++) {
      if (!this.table.isLive(row)) continue;
      const count = this.count(row);
      this.enter(this.#groups.values[row] as number, row);
      this.#counts.values[row] = count;
      if (count !== 0) this.#dead--;
    }
  }

  #drop(row: number): void {
    this.#dead--;
    this.table.remove(row);
  }

  #root(group: number): number {
    return group < this.#roots.length ? (this.#roots[group] as number) : 0;
  }

  #members(group: number): number[] {
    const rows: number[] = [];
    const waiting = [this.#root(group)];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop())
      for (let each = node; each !== 0; each = this.#sibling[each - 1] as number) {
        rows.push(each - 1);
        const child = this.#child[each - 1] as number;
        if (child !== 0) waiting.push(child);
      }
    return rows;
  }

  /** Where the root was taken back before it came: within a round, rows come in any order. */
  #leastOf(group: number): number {
    const before = this.#before ?? (() => false);
    return this.all(group).reduce((best, row) => (best < 0 || before(row, best) ? row : best), -1);
  }

  /** Two heaps as one: the later root becomes the first child of the earlier. */
  #merged(a: number, b: number): number {
    if (a === 0 || b === 0) return a + b;
    const isFirst = this.#before === null || this.#before(a - 1, b - 1);
    const [first, second] = isFirst ? [a, b] : [b, a];
    this.#sibling[second - 1] = this.#child[first - 1] as number;
    this.#child[first - 1] = second;
    return first;
  }

  /** The children of a root that is gone, merged in pairs from the left, and the pairs from the right. */
  #pairs(first: number): number {
    const heaps: number[] = [];
    for (let a = first; a !== 0; ) {
      const b = this.#sibling[a - 1] as number;
      const next = b === 0 ? 0 : (this.#sibling[b - 1] as number);
      this.#sibling[a - 1] = 0;
      if (b !== 0) this.#sibling[b - 1] = 0;
      heaps.push(this.#merged(a, b));
      a = next;
    }
    return heaps.reduceRight((all, heap) => this.#merged(heap, all), 0);
  }
}
