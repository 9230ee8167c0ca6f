/** About three seconds on one core; what is worth being compiled along takes a tenth of that. */
export const EFFORT_WITH_PACKAGES = 40_000_000;

/** Everything that is known so far is thrown away with it. */
export class TooEntangled extends Error {}

/**
 * A package in which anything may be anywhere would take minutes, and nothing would be known of it in the end. Values that are moved
 * are counted, so that a program is given up at the same place each time, on any machine.
 */
export class Effort {
  /** Whatever is still asked is not counted. */
  isOver = false;
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  spend(values: number): void {
    if (this.isOver) return;
    this.#left -= values;
    if (this.#left < 0) throw new TooEntangled();
  }
}
