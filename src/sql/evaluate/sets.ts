import type { LogicalPlan } from "../plan.js";
import type { SqlColumn } from "../schema.js";
import { rowKey } from "../values/compare.js";
import type { Row } from "./expression.js";
import { sorted, withTypes } from "./sort.js";

/** One of equal rows. */
export function distinctRows(columns: readonly SqlColumn[], rows: readonly Row[]): Row[] {
  const once = new Map<string, Row>();
  for (const row of rows) {
    const key = rowKey(row, columns);
    if (!once.has(key)) once.set(key, row);
  }
  return [...once.values()];
}

/** The first row, in an order, among rows that agree in the keys. */
export function distinctOnRows(
  plan: Extract<LogicalPlan, { kind: "distinct on" }>,
  rows: readonly Row[],
): Row[] {
  const { columns, keys, order } = plan;
  const first = new Map<string, Row>();
  for (const row of sorted(withTypes(order, columns), rows)) {
    const key = rowKey(
      keys.map((index) => row[index] ?? null),
      keys.map((index) => columns[index] ?? { type: "untyped" }),
    );
    if (!first.has(key)) first.set(key, row);
  }
  return [...first.values()];
}

/** EXCEPT and INTERSECT; with ALL, a row on the right counts for one row on the left. */
export function combinedRows(
  { operation, all, columns }: Extract<LogicalPlan, { kind: "set operation" }>,
  left: readonly Row[],
  right: readonly Row[],
): Row[] {
  const counts = new Map<string, number>();
  for (const row of right) {
    const key = rowKey(row, columns);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = all ? left : distinctRows(columns, left);
  return rows.filter((row) => {
    const key = rowKey(row, columns);
    const others = counts.get(key) ?? 0;
    if (all && others > 0) counts.set(key, others - 1);
    return operation === "intersect" ? others > 0 : others === 0;
  });
}
