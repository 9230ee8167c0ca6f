import type { Combination, SqlQuery, ValuesClause } from "../ast.js";
import type { LogicalPlan, PlanExpression } from "../plan.js";
import type { SqlColumn } from "../schema.js";
import { resolveExpression } from "./expression.js";
import { limitedByColumns } from "./order.js";
import type { Named, Resolver } from "./query.js";
import { senseless } from "./refusals.js";
import { Scope } from "./scope.js";

/** UNION, EXCEPT and INTERSECT: two queries whose columns have common types. */
export function resolveCombination(
  resolver: Resolver,
  { operation, all, left: one, right: other, span }: Combination,
  query: SqlQuery,
  outer: Scope | null,
  named: Named | null,
): LogicalPlan {
  const word = operation.toUpperCase();
  const sides = [resolver.query(one, outer, named), resolver.query(other, outer, named)] as const;
  const [a, b] = sides;
  if (a.columns.length !== b.columns.length)
    throw senseless(
      resolver.text,
      span,
      `The sides of ${word} have ${a.columns.length} and ${b.columns.length} columns.`,
    );
  const types = a.columns.map(({ type }, i) =>
    resolver.typing.common([type, b.columns[i]?.type ?? type], word, span),
  );
  const [left, right] = [converted(resolver, a, types), converted(resolver, b, types)];
  const columns = left.columns.map((column, i) => {
    const { nullable = true } = right.columns[i] ?? {};
    return { ...column, nullable: operation === "except" ? column.nullable : column.nullable || nullable };
  });
  const plan: LogicalPlan =
    operation === "union"
      ? { kind: "union", left, right, columns, span }
      : { kind: "set operation", operation, all, left, right, columns, span };
  const result: LogicalPlan =
    operation === "union" && !all ? { kind: "distinct", input: plan, columns, span } : plan;
  return limitedByColumns(resolver.text, result, query, word);
}

function converted(
  { typing }: Resolver,
  plan: LogicalPlan,
  types: readonly SqlColumn["type"][],
): LogicalPlan {
  if (plan.columns.every(({ type }, i) => type === types[i])) return plan;
  const outputs = plan.columns.map(({ name, type, nullable }, index) => {
    const column: PlanExpression = { kind: "column", index, depth: 0, type, nullable, span: plan.span };
    return { name, expression: typing.converted(column, types[index] ?? type) };
  });
  // What stays as it is still counts as the common type: values without a type mix.
  const columns = outputs.map(({ name, expression: { nullable } }, i) => {
    return { name, type: types[i] ?? ("untyped" as const), nullable };
  });
  return { kind: "project", input: plan, outputs, columns, span: plan.span };
}

/** Rows that are written in the query. */
export function resolveValues(
  resolver: Resolver,
  { rows, span }: ValuesClause,
  query: SqlQuery,
  outer: Scope | null,
  named: Named | null,
): LogicalPlan {
  const { text, typing } = resolver;
  const context = resolver.context(named);
  const place = { scope: new Scope(text, [], outer), grouping: null, overs: null };
  const written = rows.map((row) => row.map((each) => resolveExpression(context, each, place)));
  const width = written[0]?.length ?? 0;
  const odd = rows.find((row) => row.length !== width);
  if (odd !== undefined)
    throw senseless(text, odd[0]?.span ?? span, `The rows of VALUES have ${width} and ${odd.length} values.`);
  const byColumn = Array.from({ length: width }, (_, i) =>
    typing.alike(
      written.flatMap((row) => row[i] ?? []),
      "A column of VALUES",
    ),
  );
  const columns = byColumn.map(
    (values, i): SqlColumn => ({
      name: `column${i + 1}`,
      type: values[0]?.type ?? "text",
      nullable: values.some(({ nullable }) => nullable),
    }),
  );
  const typed = written.map((_, i) => byColumn.flatMap((values) => values[i] ?? []));
  return limitedByColumns(text, { kind: "values", rows: typed, columns, span }, query, "VALUES");
}
