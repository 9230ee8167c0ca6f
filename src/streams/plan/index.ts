/**
 * Checked queries as data: operators over columns, expressions with types. Front ends make plans, `codegen` and
 * `operators` run them.
 */
export { withConstantSides } from "./constant-side.js";
export { withCuts } from "./cut.js";
export type { Arithmetic, Comparison, Expression, FunctionName, Type, ValueType } from "./expression.js";
export { type KeptState, keptBy } from "./growth.js";
export { type Expiry, expiryOf } from "./join-time.js";
export { meetingColumns, type Partitioning, partitioningOf } from "./partitioning.js";
export {
  type Aggregate,
  type OverFunction,
  type Plan,
  type RowStep,
  retentionStep,
  type SortKey,
  type StateRetention,
  type WindowFrame,
} from "./physical.js";
export { pruned } from "./prune.js";
export { withArrivals, withRetention } from "./retention.js";
export { columnsIn, conjunction, conjuncts, moved } from "./rewrite.js";
export {
  type EmitMode,
  type InputSpec,
  type Inputs,
  type TimeBound,
  type Traits,
  traitsOf,
} from "./traits.js";
export { inputsOf, viewKey } from "./view-key.js";
