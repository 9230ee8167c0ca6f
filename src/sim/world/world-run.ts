import type { CommitOrder } from "../../core/core.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { RunLog } from "../oracle/index.js";

export interface WorldOptions {
  readonly commitOrder: CommitOrder;
  readonly marks: Marks;
  readonly plant?: Plant | undefined;
  /** With a journal on a disk, and crashes. */
  readonly crashes?: boolean | undefined;
  /** On several hosts. */
  readonly hosts?: boolean | undefined;
}

export interface WorldRun {
  readonly log: RunLog;
  readonly hash: string;
  readonly steps: number;
  /** What is still open although nothing moves any more; null if everything came to rest. */
  readonly stuck: string | null;
}
