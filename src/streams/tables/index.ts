/**
 * The state of operators: tables by key in columns, that know what changed since their last checkpoint. They hold no
 * objects per row, and are written and loaded as batches.
 */
export { Bag } from "./bag.js";
export { type Before, GroupValues } from "./group-values.js";
export { KeyedTable } from "./keyed-table.js";
export { Registers } from "./registers.js";
export { SlotRows } from "./slot-rows.js";
export { type Compare, SortedSlots } from "./sorted-slots.js";
export type { OperatorState } from "./state.js";
export { WeightedRows } from "./weighted-rows.js";
