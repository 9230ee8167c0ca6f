import type { Scalar } from "../ast.js";
import { userAggregate } from "../builtins/index.js";
import type { AggregateCall, AggregatePlan, PlanExpression, SortExpression } from "../plan.js";
import { compareValues, keyOf, rowKey } from "../values/compare.js";
import { addNumeric, divideNumeric } from "../values/numeric.js";
import { toMicros } from "../values/time.js";
import type { Row } from "./expression.js";
import { inOrder } from "./sort.js";

/** The value of an expression in a row. */
export type ValueIn = (row: Row, expression: PlanExpression) => Scalar;

/** GROUP BY: the rows that agree in the keys, and what the aggregates make of them. */
export function aggregateRows(plan: AggregatePlan, rows: readonly Row[], value: ValueIn): Row[] {
  const groups = new Map<string, { key: Row; rows: Row[] }>();
  if (!plan.grouped) groups.set("[]", { key: [], rows: [] });
  for (const row of rows) {
    const key = plan.keys.map((each) => value(row, each));
    const name = rowKey(key, plan.keys);
    const group = groups.get(name) ?? { key, rows: [] };
    groups.set(name, group);
    group.rows.push(row);
  }
  return [...groups.values()].map(({ key, rows: own }) => [
    ...key,
    ...plan.aggregates.map((each) => aggregated(each, own, value)),
  ]);
}

/** What an aggregate makes of rows, in whatever order they come. */
export function aggregated(aggregate: AggregateCall, all: readonly Row[], value: ValueIn): Scalar {
  const { name, operands, filter } = aggregate;
  const rows = filter === null ? all : all.filter((row) => value(row, filter) === true);
  const [operand, separator] = operands;
  if (operand === undefined) return rows.length;
  if (name === "array_agg" || name === "string_agg")
    return listed(aggregate, rows, operand, separator, value);
  if (name === "user") {
    const user = userAggregate(aggregate.user ?? "");
    if (user === undefined) return null;
    const values = rows.map((row) => operands.map((each) => value(row, each)));
    const counted = values.filter((each) => !each.includes(null));
    return user.result(counted.reduce<unknown>((state, each) => user.add(state, ...each), user.init()));
  }
  const { type } = operand;
  const given = rows.map((row) => value(row, operand)).filter((each) => each !== null);
  const once = new Map(given.map((each) => [keyOf(each, type), each]));
  // Sorted, so that no sum of doubles depends on an order.
  const values = (aggregate.distinct ? [...once.values()] : given).toSorted((a, b) =>
    compareValues(a, b, type),
  );
  if (name === "count") return values.length;
  if (values.length === 0) return null;
  switch (name) {
    case "min":
      return values[0] ?? null;
    case "max":
      return values.at(-1) ?? null;
    case "bool_and":
      return values.every((each) => each === true);
    case "bool_or":
      return values.includes(true);
    case "sum":
      return total(aggregate, values);
    case "avg":
      return mean(aggregate, values);
  }
}

function total({ type }: AggregateCall, values: readonly Scalar[]): Scalar {
  if (type === "numeric") return values.map(String).reduce(addNumeric, "0");
  const sum = values.reduce<number>((all, each) => all + (typeof each === "number" ? each : 0), 0);
  return type === "float4" ? Math.fround(sum) : sum;
}

function mean(aggregate: AggregateCall, values: readonly Scalar[]): Scalar {
  if (aggregate.type === "numeric")
    return divideNumeric(values.map(String).reduce(addNumeric, "0"), String(values.length));
  const quotient = Number(total(aggregate, values)) / values.length;
  return aggregate.type === "interval" ? toMicros(quotient) : quotient;
}

function listed(
  { name, order, distinct }: AggregateCall,
  rows: readonly Row[],
  operand: PlanExpression,
  separator: PlanExpression | undefined,
  value: ValueIn,
): Scalar {
  const { type } = operand;
  const items = rows
    .map((row) => ({
      own: value(row, operand),
      keys: order.map(({ expression }) => value(row, expression)),
      row,
    }))
    .filter(({ own }) => name === "array_agg" || own !== null)
    // Rows that the order does not tell apart stand in the order of their values.
    .toSorted(
      (a, b) => inOrder(sorts(order), a.keys, b.keys) || compareKeys(keyOf(a.own, type), keyOf(b.own, type)),
    );
  const kept = distinct ? [...new Map(items.map((item) => [keyOf(item.own, type), item])).values()] : items;
  if (kept.length === 0) return null;
  if (name === "array_agg") return kept.map(({ own }) => own);
  const between = ({ row }: { row: Row }) =>
    separator === undefined ? "" : String(value(row, separator) ?? "");
  return kept.map((item, i) => `${i === 0 ? "" : between(item)}${item.own}`).join("");
}

/** The keys of sorting that stand in a row one after the other. */
export function sorts(order: readonly SortExpression[]) {
  return order.map(({ expression, descending, nullsFirst }, index) => ({
    index,
    descending,
    nullsFirst,
    type: expression.type,
  }));
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
