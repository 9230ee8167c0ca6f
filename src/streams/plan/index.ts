/**
 * Checked queries as data: operators over columns, expressions with types. Front ends make plans, `codegen` and
 * `operators` run them.
 */
export type { Arithmetic, Comparison, Expression, FunctionName, Type, ValueType } from "./expression.js";
export { type Expiry, expiryOf } from "./join-time.js";
export { type Partitioning, partitioningOf } from "./partitioning.js";
export type { Aggregate, OverFunction, Plan, RowStep, SortKey, WindowFrame } from "./physical.js";
export { pruned } from "./prune.js";
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
