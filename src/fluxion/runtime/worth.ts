/**
 * Whether a stage is worth a worker. It is measured on the main loop at first and now and then later; a stage that took
 * longer than the limit twice in a row moves. In a worker it is measured at each call, and comes back when it has become
 * clearly cheaper than the limit: the two limits are apart so that a stage at the edge does not go to and fro.
 */

/** The first call of a function is slow, whatever it does. */
const CALLS_TO_WARM_UP = 1;
const IN_A_ROW = 2;
/** At first each call is measured, then ever fewer, down to one in so many. */
const CALLS_BETWEEN_MAX = 256;
/** Measured above this at the very first, it can only be heavy. */
const SURELY = 10;
const COMES_BACK_BELOW = 0.5;
/** How much of a mean is its latest figure. */
const NEWEST = 0.2;

export class Worth {
  isMoved: boolean;
  /** How long the stage kept its thread busy: on the main loop, in a worker. A mean in which the latest count most. */
  localMs: number | null = null;
  workerMs: number | null = null;
  readonly #isFixed: boolean;
  readonly #isAlwaysMeasured: boolean;
  readonly #worthMs: number;
  #measured = 0;
  /** All that was measured so far was to warm up. */
  #hasWarmedUp = false;
  #heavyInARow = 0;
  #between = 1;
  #untilMeasured = 0;

  constructor(worthMs: number, decided: boolean | null, isAlwaysMeasured = false) {
    this.#isAlwaysMeasured = isAlwaysMeasured;
    this.#worthMs = worthMs;
    this.#isFixed = decided !== null;
    this.isMoved = decided ?? false;
  }

  /** Is this call one that is to be measured? */
  isDue(): boolean {
    if (this.#isFixed) return this.#isAlwaysMeasured;
    this.#untilMeasured -= 1;
    return this.#untilMeasured < 0;
  }

  tookHere(ms: number): void {
    this.#measured += 1;
    this.#untilMeasured = this.#between - 1;
    if (this.#measured <= CALLS_TO_WARM_UP && ms < this.#worthMs * SURELY) {
      // For a profile, the only call of a stage is better than none; the next counts instead.
      if (this.#isAlwaysMeasured) this.localMs = ms;
      this.#hasWarmedUp = true;
      return;
    }
    this.localMs = mean(this.#hasWarmedUp ? null : this.localMs, ms);
    this.#hasWarmedUp = false;
    this.#heavyInARow = ms >= this.#worthMs ? this.#heavyInARow + 1 : 0;
    if (this.#isFixed) return;
    if (this.#heavyInARow === IN_A_ROW) this.isMoved = true;
    if (this.#heavyInARow === 0) this.#between = Math.min(CALLS_BETWEEN_MAX, this.#between * 2);
    this.#untilMeasured = this.#heavyInARow > 0 ? 0 : this.#between - 1;
  }

  tookThere(ms: number): void {
    this.workerMs = mean(this.workerMs, ms);
    if (this.#isFixed || !this.isMoved || this.workerMs >= this.#worthMs * COMES_BACK_BELOW) return;
    this.stay();
  }

  /** Comes back to the main loop, and is measured there anew. */
  stay(): void {
    this.isMoved = false;
    this.workerMs = null;
    this.#heavyInARow = 0;
    this.#between = CALLS_BETWEEN_MAX;
    this.#untilMeasured = this.#between - 1;
  }
}

function mean(before: number | null, ms: number): number {
  return before === null ? ms : before + (ms - before) * NEWEST;
}
