import type { Random } from "../../random.js";
import type { BrokenRule, ClassSpec, Expr, MethodSpec, Op, WholeOp } from "./program.js";
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
  "delete above",
  "list elsewhere",
];

export function drawExpr(random: Random): Expr {
  return random.pick<Expr>(["a", "b", "acc", "acc", "key", random.int(10)]);
}

export function drawIf(random: Random, body: Op[]): Op {
  const mod = 2 + random.int(5);
  return { op: "if", of: drawExpr(random), mod, is: random.int(mod), body };
}

export function drawThrow(random: Random): Op {
  return { op: "throw", text: `t${random.int(10)}` };
}

export function drawTell(random: Random): Op {
  return { op: "tell", client: random.chance(0.3) ? null : `c${random.int(3)}`, value: drawExpr(random) };
}

/** A page of the children in some field, if possible in this one. */
export function drawList(random: Random, { slots }: ClassSpec, wanted: string | undefined): WholeOp | null {
  const keyed = slots.filter(({ style }) => style !== null).map(({ name }) => name);
  const preferred = keyed.filter((name) => name === wanted);
  const fields = preferred.length > 0 ? preferred : keyed;
  if (fields.length === 0) return null;
  return { op: "list", field: random.pick(fields), limit: random.pick([1, 2, 100]) };
}
