/**
 * When a standby takes the head for gone. A wrong suspicion costs a change of heads and never data, so it may be quick; but it should not
 * come from a standby that was itself held up, nor from all standbys at once.
 */

/** Without a beat of the head and without a new message in the log. */
const SILENCE_MS = 1500;
/** Standbys take their turns. */
const TURN_MS = 200;
/** A standby whose own thread was held up for so long has missed beats, and begins to count anew. */
const HELD_UP_MS = 500;

export class Suspicion {
  readonly #now: () => number;
  #lastSign: number;
  #lastLook: number;
  #position = -1;

  constructor(now: () => number) {
    this.#now = now;
    this.#lastSign = now();
    this.#lastLook = now();
  }

  /** The head gave a sign of life. */
  sign(): void {
    this.#lastSign = this.#now();
  }

  /** The link to the head has closed, and the head cannot be connected to: its process has ended. */
  ended(): void {
    this.#lastSign = Number.NEGATIVE_INFINITY;
  }

  /** Is the head gone? `position` is how far this standby has read the log, `rank` how many standbys come before it. */
  isDue(position: number, rank: number): boolean {
    const now = this.#now();
    const isHeldUp = now - this.#lastLook > HELD_UP_MS;
    this.#lastLook = now;
    if ((position !== this.#position || isHeldUp) && this.#lastSign !== Number.NEGATIVE_INFINITY)
      this.#lastSign = now;
    this.#position = position;
    return now - this.#lastSign > SILENCE_MS + rank * TURN_MS;
  }
}
