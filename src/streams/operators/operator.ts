import type { Batch } from "../columns/index.js";

/**
 * A part of a running query: batches are pushed in, results are pushed on. Data goes one way, from the scans to the consumer of
 * the query.
 */
export interface Operator {
  push(batch: Batch): void;
  /** No more batches come. */
  end(): void;
}
