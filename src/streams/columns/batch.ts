import { type Column, capacityOf, cellAt, emptyColumn, grow, setCell, widened } from "./column.js";
import type { Cell, Schema } from "./schema.js";

/**
 * Rows of one schema as columns. Rows are appended, never changed, and a batch that was handed on is not appended to, so
 * batches can share columns and texts. `weights` is there only where rows can be taken back: +n adds a row n times, -n
 * takes it back n times.
 */
export class Batch {
  rows = 0;

  constructor(
    readonly schema: Schema,
    readonly columns: readonly Column[],
    public weights: Int32Array | null,
  ) {}

  static empty(schema: Schema, capacity = 0, weighted = false, source: Buffer | null = null): Batch {
    const columns = schema.map((spec) => emptyColumn(spec, capacity, source));
    return new Batch(schema, columns, weighted ? new Int32Array(capacity) : null);
  }

  static of(schema: Schema, rows: readonly (readonly Cell[])[], weights?: readonly number[]): Batch {
    const batch = Batch.empty(schema, rows.length, weights !== undefined);
    for (const [i, row] of rows.entries()) batch.append(row, weights?.[i] ?? 1);
    return batch;
  }

  /** How many rows there is room for. */
  get capacity(): number {
    const [first] = this.columns;
    return first === undefined ? (this.weights?.length ?? 0) : capacityOf(first);
  }

  /** Makes room for so many more rows; afterwards the arrays of the columns may be other ones. */
  reserve(more: number): void {
    const { capacity } = this;
    if (this.rows + more <= capacity) return;
    const wanted = Math.max(this.rows + more, 2 * capacity, 16);
    for (const column of this.columns) grow(column, wanted);
    if (this.weights !== null) this.weights = widened(this.weights, new Int32Array(wanted));
  }

  append(cells: readonly Cell[], weight = 1): void {
    this.reserve(1);
    for (const [i, column] of this.columns.entries()) setCell(column, this.rows, cells[i] ?? null);
    if (this.weights !== null) this.weights[this.rows] = weight;
    this.rows++;
  }

  cell(row: number, index: number): Cell {
    const column = this.columns[index];
    if (column === undefined || row >= this.rows) throw new RangeError(`There is no cell ${row}, ${index}.`);
    return cellAt(column, row);
  }

  row(row: number): Cell[] {
    return this.columns.map((_, index) => this.cell(row, index));
  }

  weight(row: number): number {
    return this.weights === null ? 1 : (this.weights[row] as number);
  }
}
