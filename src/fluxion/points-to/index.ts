/**
 * Which values may be where, and what is done to them: a points-to analysis without regard to the order of statements.
 * `engine.ts` goes round until nothing is added; `things.ts` has what a value can be, `body-facts.ts` what is known of each
 * function. Others ask the engine and read facts; only files of this room add to them.
 */

export type { BodyFacts } from "./body-facts.js";
export { callWith } from "./calls.js";
export { binderOf, boundTo, chainOf, classesAbove } from "./classes.js";
export { Engine, type EngineOptions } from "./engine.js";
export { escapedFrom } from "./escapes.js";
export { evaluate, nameOf } from "./expressions.js";
export { memberOf } from "./members.js";
export { bind } from "./patterns.js";
export { copyable } from "./receivers.js";
export type { CallerKind, Rupture } from "./ruptures.js";
export {
  alone,
  type Body,
  type Hazard,
  type LibraryThing,
  NONE,
  type ReceiverThing,
  reachable,
  type Thing,
  type ValueSet,
} from "./things.js";
export { isOfFile, isReassigned } from "./variables.js";
