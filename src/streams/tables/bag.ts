import { Batch, emptyColumn, type Schema, widened } from "../columns/index.js";

/**
 * Rows that are found by a key, many to a key: the state of one side of a join. Rows stand in columns, in the order of their
 * coming, and those of one key form a chain, `next` by row, whose head the table of keys holds. A row and the head of a chain
 * are counted from 1, so that 0 ends a chain.
 */
export class Bag {
  readonly batch: Batch;
  next = new Int32Array(16);
  /** For outer joins: whether a row met one of the other side. */
  met = new Uint8Array(16);

  constructor(schema: Schema) {
    const columns = schema.map((spec) => emptyColumn(spec, 16));
    this.batch = new Batch(schema, columns, null);
  }

  get columns(): Batch["columns"] {
    return this.batch.columns;
  }

  get rows(): number {
    return this.batch.rows;
  }

  /** Makes room for so many more rows. The arrays may be other ones afterwards. */
  reserve(more: number): void {
    this.batch.reserve(more);
    const { capacity, rows } = this.batch;
    if (rows + more <= this.next.length) return;
    const wanted = Math.max(capacity, rows + more);
    this.next = widened(this.next, new Int32Array(wanted));
    this.met = widened(this.met, new Uint8Array(wanted));
  }
}
