import type { Batch } from "../columns/index.js";

/** Partitions of a stream that are complete now. */
export interface Released {
  /** All their rows, one partition after the other. */
  readonly rows: Batch;
  /** Their names; some have no rows. */
  readonly keys: readonly string[];
  /** Every producer has sealed the whole stream: no partition begins any more. */
  readonly isFinished: boolean;
}

/** What the graph knows of the streams whose partitions a query waits for. */
export interface Holds {
  /** Was it released before this round? */
  isOver(stream: string, key: string): boolean;
  isFinished(stream: string): boolean;
}
