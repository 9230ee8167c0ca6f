import { Batch } from "../columns/index.js";
import type { Plan } from "../plan/index.js";
import type { Operator } from "./operator.js";

/** LIMIT and OFFSET without ORDER BY, of an input that has an order of its own: the first rows, as they come. */
export class Limit implements Operator {
  #skip: number;
  #left: number;

  constructor(
    plan: Extract<Plan, { kind: "sort" }>,
    readonly next: Operator,
  ) {
    this.#skip = plan.offset;
    this.#left = plan.limit ?? Number.POSITIVE_INFINITY;
  }

  get isDone(): boolean {
    return this.#left <= 0;
  }

  push(batch: Batch): void {
    const from = Math.min(this.#skip, batch.rows);
    const to = Math.min(batch.rows, from + this.#left);
    this.#skip -= from;
    this.#left -= to - from;
    if (from === to) return;
    if (from === 0 && to === batch.rows) this.next.push(batch);
    else
      this.next.push(
        Batch.of(
          batch.schema,
          Array.from({ length: to - from }, (_, i) => batch.row(from + i)),
        ),
      );
  }

  flush(): void {}

  watermark(): void {}

  end(): void {
    this.next.end();
  }
}
