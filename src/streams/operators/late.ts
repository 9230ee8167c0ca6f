import type { Batch } from "../columns/index.js";

/** How many rows are kept until they are asked for. */
const ROWS_MAX = 100_000;

/** Rows that came behind the watermark, when what they belong to was complete: counted, and kept until they are asked for. */
export class LateRows {
  count = 0;
  #batches: Batch[] = [];
  #rows = 0;

  add(batch: Batch): void {
    this.count += batch.rows;
    if (this.#rows + batch.rows > ROWS_MAX) return;
    this.#rows += batch.rows;
    this.#batches.push(batch);
  }

  /** The rows since the last call, with the columns that they had where they were refused: those of the input, as a rule. */
  take(): readonly Batch[] {
    const taken = this.#batches;
    this.#batches = [];
    this.#rows = 0;
    return taken;
  }
}
