import { column, type NumberColumn, type Schema, widened } from "../columns/index.js";
import { KeyedTable } from "./keyed-table.js";
import type { OperatorState } from "./state.js";

/**
 * Rows with weights, found by their values and by a key: a side of a join whose rows are taken back, or whose matches are
 * counted. Equal rows are one row with their weights added up. The rows are a table whose key is the whole row, so a row
 * that is taken back is found at once, however many rows share its join key; the rows of one join key form a chain in both
 * directions, whose head the join's table of keys holds. Rows in chains are counted from 1, so that 0 ends a chain.
 *
 * Weights and counts of matches are columns of the table and part of checkpoints. Chains are made again after a load.
 */
export class WeightedRows implements OperatorState {
  readonly table: KeyedTable;
  next = new Int32Array(8);
  previous = new Int32Array(8);
  /** The row of the key table that a row is chained to, plus one; 0 for a row whose key is NULL. */
  owners = new Int32Array(8);
  /** What the consumer has seen of a row: the weight of its own output, and the mark that it had. */
  shown = new Float64Array(8);
  marks = new Uint8Array(8);
  /** Rows that were changed in this round; each stands in the list once. */
  readonly dirty: number[] = [];
  isDirty = new Uint8Array(8);
  /** Rows were loaded, and their chains are still to be made. */
  isUnlinked = false;
  readonly #width: number;

  constructor(schema: Schema) {
    this.#width = schema.length;
    const counts = ["weight", "matches", "unknown"].map((name) => column(name, "int", false));
    this.table = new KeyedTable([...schema, ...counts], schema.length);
  }

  get columns(): KeyedTable["columns"] {
    return this.table.columns;
  }

  get weights(): Float64Array {
    return this.#counts(0);
  }

  /** For each row, how many rows of the other side meet it. */
  get matches(): Float64Array {
    return this.#counts(1);
  }

  /** For each row, of how many rows of the other side it is not known whether they meet it. */
  get unknown(): Float64Array {
    return this.#counts(2);
  }

  get rows(): number {
    return this.table.rows;
  }

  get size(): number {
    return this.table.size;
  }

  get memoryBytes(): number {
    return this.table.memoryBytes + 22 * this.next.length;
  }

  /** Makes room for so many more rows. The arrays may be other ones afterwards. */
  reserve(more: number): void {
    this.table.reserve(more);
    const capacity = this.table.hashes.length;
    if (capacity <= this.next.length) return;
    this.next = widened(this.next, new Int32Array(capacity));
    this.previous = widened(this.previous, new Int32Array(capacity));
    this.owners = widened(this.owners, new Int32Array(capacity));
    this.shown = widened(this.shown, new Float64Array(capacity));
    this.marks = widened(this.marks, new Uint8Array(capacity));
    this.isDirty = widened(this.isDirty, new Uint8Array(capacity));
  }

  /** A new row for the values that were just looked up. The caller writes them, then calls `begin`. */
  insert(): number {
    return this.table.insert();
  }

  begin(row: number): void {
    this.table.retain(row);
    this.weights[row] = 0;
    this.matches[row] = 0;
    this.unknown[row] = 0;
    this.shown[row] = 0;
    this.marks[row] = 0;
    this.owners[row] = 0;
  }

  /** Notes a change of a row, for the end of the round and for the next checkpoint. */
  touch(row: number): void {
    this.table.touch(row);
    if (this.isDirty[row] === 1) return;
    this.isDirty[row] = 1;
    this.dirty.push(row);
  }

  link(row: number, owner: number, heads: Float64Array): void {
    const head = heads[owner] as number;
    this.next[row] = head;
    this.previous[row] = 0;
    if (head !== 0) this.previous[head - 1] = row + 1;
    heads[owner] = row + 1;
    this.owners[row] = owner + 1;
  }

  /** Takes a row out of its chain and lets it go. */
  remove(row: number, heads: Float64Array): void {
    const [before, after] = [this.previous[row] as number, this.next[row] as number];
    const owner = (this.owners[row] as number) - 1;
    if (owner >= 0) {
      if (before === 0) heads[owner] = after;
      else this.next[before - 1] = after;
      if (after !== 0) this.previous[after - 1] = before;
    }
    this.table.remove(row);
  }

  base(): Buffer {
    return this.table.base();
  }

  delta(): Buffer | null {
    return this.table.delta();
  }

  load(bytes: Buffer): void {
    this.table.load(bytes);
    this.isUnlinked = true;
    this.reserve(0);
  }

  #counts(index: number): Float64Array {
    return (this.table.columns[this.#width + index] as NumberColumn).values;
  }
}
