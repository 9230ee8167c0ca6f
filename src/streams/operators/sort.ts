import { LIBRARY } from "../codegen/index.js";
import { Batch, type Cell, type Schema } from "../columns/index.js";
import type { Plan, SortKey } from "../plan/index.js";
import type { Operator } from "./operator.js";

/**
 * ORDER BY with or without LIMIT, of an input that ends: rows are kept, sorted when the input ends, and cut. With a limit,
 * rows that cannot be among the first any more are dropped each time twice as many as needed have gathered. Rows that the
 * keys do not tell apart stay in the order in which they came.
 */
export class Sort implements Operator {
  #rows: (readonly Cell[])[] = [];
  readonly #schema: Schema;
  readonly #order: readonly SortKey[];
  readonly #offset: number;
  readonly #count: number;

  constructor(
    plan: Extract<Plan, { kind: "sort" }>,
    readonly next: Operator,
  ) {
    this.#schema = plan.columns;
    this.#order = plan.order;
    this.#offset = plan.offset;
    this.#count = plan.limit === null ? Number.POSITIVE_INFINITY : plan.offset + plan.limit;
  }

  push(batch: Batch): void {
    for (let i = 0; i < batch.rows; i++) this.#rows.push(batch.row(i));
    if (this.#rows.length > 2 * this.#count + 1000) this.#cut();
  }

  flush(): void {}

  watermark(): void {}

  end(): void {
    this.#cut();
    const rows = this.#rows.slice(this.#offset);
    if (rows.length > 0) this.next.push(Batch.of(this.#schema, rows));
    this.next.end();
  }

  #cut(): void {
    this.#rows.sort((a, b) => this.#compare(a, b));
    if (this.#rows.length > this.#count) this.#rows.length = this.#count;
  }

  #compare(a: readonly Cell[], b: readonly Cell[]): number {
    for (const { index, descending, nullsFirst } of this.#order) {
      const [x = null, y = null] = [a[index], b[index]];
      if (x === null && y === null) continue;
      if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
      const difference = compareCells(x, y);
      if (difference !== 0) return descending ? -difference : difference;
    }
    return 0;
  }
}

/** NaN lies behind all numbers, as in PostgreSQL. */
function compareCells(x: Exclude<Cell, null>, y: Exclude<Cell, null>): number {
  if (typeof x === "string" && typeof y === "string") return LIBRARY.compareText(x, y);
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x < y ? -1 : x > y ? 1 : 0;
}
