import { GROUP_WINDOW, type GroupWindow, type Select, type SqlExpression } from "../ast.js";
import type { LogicalPlan, PlanColumn, PlanExpression } from "../plan.js";
import type { ResolveContext } from "./context.js";
import { resolveExpression } from "./expression.js";
import { windowed } from "./from.js";
import type { Resolver } from "./query.js";
import { senseless } from "./refusals.js";
import { Scope, type Visible } from "./scope.js";

/**
 * `GROUP BY TUMBLE(ts, …), …`: the rows that WHERE has left get their windows, whose bounds are columns that only GROUP BY and the
 * functions of the window name. Sessions are those of the rows that agree in everything else that GROUP BY says.
 */
export function groupWindowed(
  resolver: Resolver,
  context: ResolveContext,
  select: Select,
  clause: GroupWindow,
  given: LogicalPlan,
  scope: Scope,
): { readonly plan: LogicalPlan; readonly scope: Scope } {
  const { span } = clause;
  const keys = clause.window === "session" ? keysOf(resolver, context, select, scope) : [];
  const { input, places } = withColumns(given, keys);
  const plan = windowed(resolver, input, scope, { clause, span }, places);
  const first = input.columns.length;
  const bounds = plan.columns.slice(first).map((column, i): Visible => {
    return { table: GROUP_WINDOW, name: column.name, index: first + i, column, merged: true };
  });
  return { plan, scope: new Scope(resolver.text, [...scope.visible, ...bounds], scope.outer) };
}

function keysOf({ text }: Resolver, context: ResolveContext, select: Select, scope: Scope): PlanExpression[] {
  const place = { scope, grouping: null, overs: null };
  return select.groupBy
    .filter((each) => each.kind !== "column" || each.table !== GROUP_WINDOW)
    .map((each) => groupedExpression(text, each, select, scope))
    .map((each) => context.typing.settled(resolveExpression(context, each, place)));
}

/** The same rows with columns behind their own for expressions that are none, and where each expression stands. */
function withColumns(
  input: LogicalPlan,
  expressions: readonly PlanExpression[],
): { readonly input: LogicalPlan; readonly places: readonly number[] } {
  const { span } = input;
  const outputs = input.columns.map(({ name, type, nullable }, index): PlanColumn => {
    return { name, expression: { kind: "column", index, depth: 0, type, nullable, span } };
  });
  const places = expressions.map((expression) =>
    expression.kind === "column" && expression.depth === 0
      ? expression.index
      : outputs.push({ name: "", expression }) - 1,
  );
  if (outputs.length === input.columns.length) return { input, places };
  const columns = outputs.map(({ name, expression: { type, nullable } }) => ({ name, type, nullable }));
  return { input: { kind: "project", input, outputs, columns, span }, places };
}

/** `GROUP BY 1` and `GROUP BY alias`; as in PostgreSQL, a column of a table comes before an alias. */
export function groupedExpression(
  text: string,
  expression: SqlExpression,
  select: Select,
  scope: Scope,
): SqlExpression {
  if (expression.kind === "constant" && typeof expression.value === "number") {
    const item = select.items[expression.value - 1]?.expression;
    if (item === undefined || item === null)
      throw senseless(text, expression.span, `There is no column number ${expression.value} in SELECT.`);
    return item;
  }
  if (expression.kind !== "column" || expression.table !== null) return expression;
  if (scope.visible.some(({ name }) => name === expression.name)) return expression;
  return select.items.find(({ alias }) => alias === expression.name)?.expression ?? expression;
}
