import type { SortItem, SqlExpression, SqlQuery } from "../ast.js";
import type { LogicalPlan, OrderKey } from "../plan.js";
import { refusal, unknown } from "./refusals.js";

export function sortKey({ descending, nullsFirst }: SortItem, index: number): OrderKey {
  return { index, descending, nullsFirst };
}

/** The column of a result that ORDER BY names or numbers. */
export function outputIndex(expression: SqlExpression, names: readonly string[]): number | null {
  if (expression.kind === "constant" && typeof expression.value === "number")
    return Number.isInteger(expression.value) && expression.value >= 1 && expression.value <= names.length
      ? expression.value - 1
      : null;
  if (expression.kind !== "column" || expression.table !== null) return null;
  const index = names.indexOf(expression.name);
  return index < 0 ? null : index;
}

/** ORDER BY without LIMIT is left out: a stream has no order, so none is made. */
export function limited(
  text: string,
  plan: LogicalPlan,
  query: SqlQuery,
  order: readonly OrderKey[],
): LogicalPlan {
  const { limit, offset, limitSpan: span } = query;
  if (limit === null && offset === 0) return plan;
  if (order.length === 0)
    throw refusal(text, span, "LIMIT needs an ORDER BY: without one, chance decides which rows are left.");
  return { kind: "limit", input: plan, order, limit, offset, columns: plan.columns, span };
}

/** By the names and numbers of the columns of a result. */
export function limitedByColumns(
  text: string,
  plan: LogicalPlan,
  query: SqlQuery,
  after: string,
): LogicalPlan {
  const names = plan.columns.map(({ name }) => name);
  const order = query.orderBy.map((item) => {
    const index = outputIndex(item.expression, names);
    if (index === null)
      throw badOrder(text, item, `after ${after}, ORDER BY takes names or numbers of columns`);
    return sortKey(item, index);
  });
  return limited(text, plan, query, order);
}

export function badOrder(text: string, item: SortItem, why: string) {
  return unknown(text, item.expression.span, `This is no column of the result: ${why}.`);
}
