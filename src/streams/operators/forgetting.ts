import type { Batch } from "../columns/index.js";
import { retentionStep, type StateRetention } from "../plan/index.js";
import { Registers } from "../tables/index.js";
import type { Site } from "./site.js";

/**
 * When an operator forgets: each time the watermark has passed another multiple of a step, whatever is older than the
 * retention goes. So the same watermarks forget the same rows, in whichever batches these came and wherever the query was
 * restarted. An input that has ended makes nothing older.
 */
export class Forgetting {
  readonly #horizon = new Registers(Number.NEGATIVE_INFINITY);

  constructor(
    readonly retention: StateRetention,
    site: Site,
  ) {
    site.keep(this.#horizon);
  }

  /** The time before which all is forgotten, if it is another now; else `null`. */
  advance(watermark: number): number | null {
    if (!Number.isFinite(watermark)) return null;
    const step = retentionStep(this.retention);
    const horizon = Math.floor(watermark / step) * step - this.retention.ms;
    if (horizon <= (this.#horizon.values[0] as number)) return null;
    this.#horizon.values[0] = horizon;
    return horizon;
  }
}

/** Whether the time of a row lies before. A row without a time is as old as can be. */
export function isBefore(
  column: Batch["columns"][number] | undefined,
  horizon: number,
): (row: number) => boolean {
  if (column?.storage !== "number") return () => false;
  const { values, nulls } = column;
  return (row) => nulls?.[row] === 1 || (values[row] as number) < horizon;
}
