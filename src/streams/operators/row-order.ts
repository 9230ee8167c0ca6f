import { rowOrder } from "../codegen/index.js";
import type { Column, Schema } from "../columns/index.js";
import type { SortKey } from "../plan/index.js";
import type { Compare } from "../tables/index.js";

/** The order of rows of a table by sort keys. */
export function orderOf(schema: Schema, columns: readonly Column[], order: readonly SortKey[]): Compare {
  const compare = rowOrder(schema, order, false);
  return (a, b) => compare(a, columns, b, columns);
}

/** The same, and rows that the keys do not tell apart in the order of all their columns. */
export function totalOrderOf(schema: Schema, columns: readonly Column[], order: readonly SortKey[]): Compare {
  const compare = rowOrder(schema, order, true);
  return (a, b) => compare(a, columns, b, columns);
}
