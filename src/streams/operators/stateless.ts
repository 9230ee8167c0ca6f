import { type RowErrors, transform } from "../codegen/index.js";
import type { Batch, Schema } from "../columns/index.js";
import type { RowStep } from "../plan/index.js";
import type { Operator } from "./operator.js";

/** Filters, projections and windows, as one function from batch to batch. It keeps nothing, and rows keep their weights. */
export class Stateless implements Operator {
  readonly #transform: ReturnType<typeof transform>;

  constructor(
    input: Schema,
    steps: readonly RowStep[],
    output: Schema,
    readonly errors: RowErrors,
    readonly next: Operator,
  ) {
    this.#transform = transform(input, steps, output);
  }

  push(batch: Batch): void {
    const made = this.#transform(batch, this.errors);
    if (made.rows > 0) this.next.push(made);
  }

  flush(): void {
    this.next.flush();
  }

  watermark(timeMs: number): void {
    this.next.watermark(timeMs);
  }

  end(): void {
    this.next.end();
  }
}
