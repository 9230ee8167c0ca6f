/**
 * The state of operators: tables by key in columns, that know what changed since their last checkpoint. They hold no
 * objects per row, and are written and loaded as batches.
 */
export { Bag } from "./bag.js";
export { KeyedTable } from "./keyed-table.js";
export type { State } from "./state.js";
