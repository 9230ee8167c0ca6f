/**
 * From a checked plan to JavaScript over columns. What comes out is made of this folder's words, numbers of columns and
 * parameters; nothing that a user wrote becomes code.
 */
export { type GeneratedRound, type Groups, type Update, updateGroups } from "./aggregate.js";
export { groupRow, specOf, stateColumns, valuesKept } from "./aggregate-state.js";
export { canCast } from "./casts.js";
export { RowErrors } from "./function.js";
export { groupIds } from "./group-ids.js";
export { valueSpecs } from "./group-values.js";
export {
  type JoinPlan,
  type JoinShape,
  type JoinState,
  joinKeys,
  type Probe,
  probe,
  type Relink,
  relink,
  type Side,
  type SideShape,
} from "./join.js";
export { LIBRARY } from "./lib/index.js";
export { transform } from "./output.js";
export { type RowOrder, rowOrder } from "./row-order.js";
