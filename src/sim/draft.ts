import type { BrokenRule, ClassSpec, MethodSpec, Op } from "./program.js";
import type { Reachable } from "./reach.js";

/** What calling a method may cost at most, and what its caller should know of it. */
export interface Facts {
  frames: number;
  effects: number;
  downgrades: boolean;
  /** Does it wait for time to pass? */
  pauses: boolean;
  /** Can code of it go on while it waits for something else? */
  forks: boolean;
}

/** One method while it is written. */
export interface Draft {
  readonly cls: ClassSpec;
  readonly index: number;
  readonly method: MethodSpec;
  readonly below: readonly Reachable[];
  readonly facts: Facts;
  /** Is it likely that the context has been given up at this point? */
  gaveUp: boolean;
  /**
   * May code of it go on while it waits for something else? Then it must not wait for time to pass, because what comes
   * first would be a matter of luck.
   */
  readonly mayFork: boolean;
}

export const FRAMES_MAX = 5;
export const EFFECTS_MAX = 3;
export const NESTING_MAX = 2;
/** What makes a difference to a method: what became of contexts above. */
export const LOOKING: ReadonlySet<Op["op"]> = new Set(["read", "downgrade"]);
export const BROKEN_RULES: readonly BrokenRule[] = [
  "return a function",
  "send home",
  "bad delay",
  "bad cancel",
  "no such method",
];
