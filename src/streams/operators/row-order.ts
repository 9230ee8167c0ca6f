import { type Column, compareRows } from "../columns/index.js";
import type { SortKey } from "../plan/index.js";
import type { Compare } from "../tables/index.js";

/** The order of rows of a table by sort keys. */
export function orderOf(columns: readonly Column[], order: readonly SortKey[]): Compare {
  const keys = order.map((key) => byKey(columns[key.index] as Column, key));
  const [only] = keys;
  if (only !== undefined && keys.length === 1) return only;
  return (a, b) => {
    for (const key of keys) {
      const difference = key(a, b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** The same, and rows that the keys do not tell apart in the order of all their columns. */
export function totalOrderOf(columns: readonly Column[], order: readonly SortKey[]): Compare {
  const byKeys = orderOf(columns, order);
  return (a, b) => {
    const difference = byKeys(a, b);
    if (difference !== 0) return difference;
    for (const each of columns) {
      const rest = compareRows(each, a, b);
      if (rest !== 0) return rest;
    }
    return 0;
  };
}

function byKey(column: Column, { descending, nullsFirst }: SortKey): Compare {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const { nulls } = column;
    if (nulls !== null && (nulls[a] === 1 || nulls[b] === 1)) {
      const difference = (nulls[a] as number) - (nulls[b] as number);
      return nullsFirst ? -difference : difference;
    }
    if (column.storage !== "number") return sign * compareRows(column, a, b);
    const [x, y] = [column.values[a] as number, column.values[b] as number];
    if (x < y) return -sign;
    if (x > y) return sign;
    return x === y ? 0 : sign * compareRows(column, a, b);
  };
}
