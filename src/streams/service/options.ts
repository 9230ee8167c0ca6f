import type { Cell } from "../columns/index.js";

export interface PushOptions {
  readonly producer?: string;
  readonly sequence?: number;
  /** An Idempotency-Key: the same rows under the same key are taken once. */
  readonly key?: string;
  /** The partitions that the producer seals behind these rows: for each, the values of the columns that name it. */
  readonly seals?: readonly (readonly unknown[])[];
}

export interface ViewRange {
  readonly from?: readonly Cell[] | null;
  readonly to?: readonly Cell[] | null;
  readonly limit?: number;
}
