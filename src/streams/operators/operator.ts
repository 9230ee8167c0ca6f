import type { Batch } from "../columns/index.js";

/**
 * A part of a running query: batches are pushed in, results are pushed on. Data goes one way, from the scans to the consumer of
 * the query.
 *
 * A standing query runs in rounds, one for each event that brings rows. Within a round an operator may gather what it is
 * given; at `flush` it emits its changes: for each key at most the row that was (weight -1) and the row that is (+1). An operator
 * with several inputs is flushed when all of them are (see `joint.ts`).
 */
export interface Operator {
  /** Rows with weights; without weights, each is added once. */
  push(batch: Batch): void;
  /** The end of a round. */
  flush(): void;
  /** No row with an event time below comes any more on this input: emits what is complete, and frees its state. */
  watermark(timeMs: number): void;
  /** A one-shot query: the input is complete, and the last round ends with it. */
  end(): void;
}
