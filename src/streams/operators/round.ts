import type { GeneratedRound } from "../codegen/index.js";
import { Batch, emptyColumn, widened } from "../columns/index.js";
import type { KeyedTable } from "../tables/index.js";

/** The groups that change in a round, with their state before it. Texts are those of the table's own pools. */
export class Round implements GeneratedRound {
  rows = new Int32Array(16);
  olds = new Int32Array(16);
  count = 0;
  /** Its arrays are used again in each round. */
  readonly before: Batch;
  readonly #table: KeyedTable;

  constructor(table: KeyedTable) {
    this.#table = table;
    const columns = table.schema.map((spec, i) => {
      const own = table.columns[i];
      return emptyColumn(spec, 0, own?.storage === "text" ? own.texts : undefined);
    });
    this.before = new Batch(table.schema, columns, null);
  }

  reserve(more: number): void {
    this.before.reserve(more);
    if (this.count + more <= this.rows.length) return;
    const capacity = Math.max(this.count + more, 2 * this.rows.length);
    this.rows = widened(this.rows, new Int32Array(capacity));
    this.olds = widened(this.olds, new Int32Array(capacity));
  }

  /** The next round begins. */
  clear(): void {
    for (let i = 0; i < this.count; i++) this.#table.forget(this.rows[i] as number);
    this.count = 0;
    this.before.rows = 0;
    for (const column of this.before.columns) if (column.storage === "numeric") column.bigs.clear();
  }
}
