import type { OrderKey } from "../plan.js";
import type { SqlType } from "../types.js";
import { compareValues } from "../values/compare.js";
import type { Row } from "./expression.js";

export interface TypedSortKey extends OrderKey {
  readonly type: SqlType;
}

export function withTypes(
  order: readonly OrderKey[],
  columns: readonly { readonly type: SqlType }[],
): TypedSortKey[] {
  return order.map((key) => ({ ...key, type: columns[key.index]?.type ?? "untyped" }));
}

/** Which of two rows comes first; 0 if the keys do not tell them apart. */
export function inOrder(order: readonly TypedSortKey[], a: Row, b: Row): number {
  for (const { index, descending, nullsFirst, type } of order) {
    const [x = null, y = null] = [a[index], b[index]];
    if (x === null && y === null) continue;
    if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
    const difference = compareValues(x, y, type);
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}

/** Rows that the keys do not tell apart stand in the order of all their columns, so that no result depends on arrival. */
export function sorted(order: readonly TypedSortKey[], rows: readonly Row[]): Row[] {
  const whole = (row: Row) => JSON.stringify(row);
  return rows.toSorted(
    (a, b) => inOrder(order, a, b) || (whole(a) < whole(b) ? -1 : whole(a) > whole(b) ? 1 : 0),
  );
}
