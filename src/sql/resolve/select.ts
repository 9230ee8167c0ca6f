import type { Select, SortItem, SqlExpression, SqlQuery } from "../ast.js";
import type { LogicalPlan, OrderKey, OverCall, PlanColumn, PlanExpression } from "../plan.js";
import { usesAggregate } from "./aggregate.js";
import type { ExpressionPlace, GroupScope, ResolveContext } from "./context.js";
import { resolveExpression } from "./expression.js";
import { resolveFrom } from "./from.js";
import { groupedExpression, groupWindowed } from "./group-by.js";
import { badOrder, limited, outputIndex, sortKey } from "./order.js";
import type { Named, Resolver } from "./query.js";
import { refusal, senseless } from "./refusals.js";
import { sameExpression } from "./same.js";
import { Scope } from "./scope.js";

/** A SELECT, clause by clause, in the order in which SQL carries them out. */
export function resolveSelect(
  resolver: Resolver,
  select: Select,
  query: SqlQuery,
  outer: Scope | null,
  named: Named | null,
): LogicalPlan {
  const { text, typing } = resolver;
  const { span } = select;
  const context = resolver.context(named);
  const from = resolveFrom(resolver, select.from, outer, named, span);
  let before = new Scope(text, from.visible, outer);
  let plan = from.plan;
  if (select.where !== null) {
    const place = { scope: before, grouping: null, overs: null };
    const predicate = typing.truth(resolveExpression(context, select.where, place), "WHERE");
    plan = { kind: "filter", input: plan, predicate, columns: plan.columns, span: select.where.span };
  }
  if (select.groupWindow !== null)
    ({ plan, scope: before } = groupWindowed(resolver, context, select, select.groupWindow, plan, before));
  const grouping = groupingOf(context, select, query, before);
  const scope = grouping === null ? before : before.grouped(placesOf(grouping));
  const read = (width: number) =>
    new Clauses(context, select, query, { scope, grouping, overs: { functions: [], width } });
  // Where the columns of OVER begin is only known when all aggregates have been found.
  if (grouping !== null && usesOver(select, query)) read(0);
  const width = grouping === null ? plan.columns.length : grouping.keys.length + grouping.aggregates.length;
  const { outputs, hidden, having, keys, order, functions } = read(width);
  if (grouping !== null) plan = grouped(plan, grouping, select);
  if (having !== null)
    plan = { kind: "filter", input: plan, predicate: having, columns: plan.columns, span: having.span };
  if (functions.length > 0) plan = over(plan, functions, span);
  plan = project(plan, [...outputs, ...hidden], span);
  if (select.distinct) plan = { kind: "distinct", input: plan, columns: plan.columns, span };
  if (keys.length > 0) plan = distinctOn(text, plan, keys, order, span);
  plan = limited(text, plan, query, order);
  return hidden.length === 0 ? plan : withoutHidden(plan, outputs, span);
}

function usesOver(select: Select, query: SqlQuery): boolean {
  return /"over":\{/.test(JSON.stringify([select.items, query.orderBy]));
}

/** What SELECT, HAVING, DISTINCT ON and ORDER BY say, and the columns that are only there to sort by. */
class Clauses {
  readonly outputs: readonly PlanColumn[];
  readonly having: PlanExpression | null;
  readonly hidden: PlanColumn[] = [];
  readonly keys: readonly number[];
  readonly order: readonly OrderKey[];
  readonly functions: readonly OverCall[];
  readonly #context: ResolveContext;
  readonly #select: Select;
  readonly #place: ExpressionPlace;

  constructor(context: ResolveContext, select: Select, query: SqlQuery, place: ExpressionPlace) {
    this.#context = context;
    this.#select = select;
    this.#place = place;
    this.functions = place.overs?.functions ?? [];
    this.outputs = outputsOf(context, select, place);
    const inGroup = { ...place, overs: null };
    this.having =
      select.having === null
        ? null
        : context.typing.truth(resolveExpression(context, select.having, inGroup), "HAVING");
    // Calls have copies of the windows that they name; a window that none names is refused for the same mistakes.
    for (const expression of windowParts(select))
      context.typing.settled(resolveExpression(context, expression, inGroup));
    this.keys = select.distinctOn.map((expression) => this.#index(expression));
    this.order = query.orderBy.map((item) => this.#key(item));
  }

  #key(item: SortItem): OrderKey {
    const { text } = this.#context;
    if (item.expression.kind === "constant" && this.#named(item.expression) === null)
      throw badOrder(text, item, "ORDER BY takes its columns by name or number");
    const index = this.#index(item.expression);
    if (index >= this.outputs.length && this.#select.distinct)
      throw badOrder(text, item, "with DISTINCT, ORDER BY takes columns of the result");
    return sortKey(item, index);
  }

  #index(expression: SqlExpression): number {
    const named = this.#named(expression);
    if (named !== null) return named;
    const { typing } = this.#context;
    const resolved = typing.settled(resolveExpression(this.#context, expression, this.#place));
    const all = [...this.outputs, ...this.hidden];
    const known = all.findIndex((output) => sameExpression(output.expression, resolved));
    if (known >= 0) return known;
    this.hidden.push({ name: "", expression: resolved });
    return all.length;
  }

  #named(expression: SqlExpression): number | null {
    return outputIndex(
      expression,
      this.outputs.map(({ name }) => name),
    );
  }
}

function windowParts({ windows }: Select): readonly SqlExpression[] {
  return windows.flatMap(({ partition, order }) => [
    ...partition,
    ...order.map(({ expression }) => expression),
  ]);
}

function groupingOf(
  context: ResolveContext,
  select: Select,
  query: SqlQuery,
  scope: Scope,
): GroupScope | null {
  const used = [
    ...select.items.flatMap(({ expression }) => expression ?? []),
    ...query.orderBy.map(({ expression }) => expression),
    ...windowParts(select),
  ].some(usesAggregate);
  if (select.groupBy.length === 0 && select.having === null && !used) return null;
  const written = select.groupBy.map((each) => groupedExpression(context.text, each, select, scope));
  const keys = written.map((each) =>
    context.typing.settled(resolveExpression(context, each, { scope, grouping: null, overs: null })),
  );
  return { keys, written, aggregates: [], before: scope };
}

function outputsOf(context: ResolveContext, select: Select, place: ExpressionPlace): PlanColumn[] {
  return select.items.flatMap((item): PlanColumn[] => {
    if (item.expression !== null) {
      const expression = context.typing.settled(resolveExpression(context, item.expression, place));
      return [{ name: item.alias ?? nameOf(item.expression), expression }];
    }
    return place.scope.star(item.table, item.span).map(({ table, name }) => {
      const column = { kind: "column", table, name, span: item.span } as const;
      return { name, expression: resolveExpression(context, column, place) };
    });
  });
}

export function project(
  input: LogicalPlan,
  outputs: readonly PlanColumn[],
  span: LogicalPlan["span"],
): LogicalPlan {
  const columns = outputs.map(({ name, expression: { type, nullable } }) => ({ name, type, nullable }));
  return { kind: "project", input, outputs, columns, span };
}

function withoutHidden(
  plan: LogicalPlan,
  outputs: readonly PlanColumn[],
  span: LogicalPlan["span"],
): LogicalPlan {
  const kept = outputs.map(({ name, expression }, index): PlanColumn => {
    const { type, nullable, span: own } = expression;
    return { name, expression: { kind: "column", index, depth: 0, type, nullable, span: own } };
  });
  return project(plan, kept, span);
}

function grouped(input: LogicalPlan, { keys, aggregates }: GroupScope, select: Select): LogicalPlan {
  const columns = [
    ...keys.map(({ type, nullable }) => ({ name: "", type, nullable })),
    ...aggregates.map(({ name, type, nullable }) => ({ name, type, nullable })),
  ];
  const [first] = select.groupBy;
  const last = select.groupBy.at(-1);
  const span =
    first === undefined || last === undefined ? select.span : { start: first.span.start, end: last.span.end };
  return { kind: "aggregate", input, grouped: select.groupBy.length > 0, keys, aggregates, columns, span };
}

function over(input: LogicalPlan, functions: readonly OverCall[], span: LogicalPlan["span"]): LogicalPlan {
  const added = functions.map(({ type, nullable }) => ({ name: "", type, nullable }));
  return { kind: "over", input, functions, columns: [...input.columns, ...added], span };
}

function distinctOn(
  text: string,
  input: LogicalPlan,
  keys: readonly number[],
  order: readonly OrderKey[],
  span: LogicalPlan["span"],
): LogicalPlan {
  if (order.length === 0)
    throw refusal(
      text,
      span,
      "DISTINCT ON needs an ORDER BY: without one, chance decides which row is left.",
    );
  const first = order.slice(0, new Set(keys).size).map(({ index }) => index);
  if (!keys.every((key) => first.includes(key)))
    throw senseless(text, span, "ORDER BY begins with the expressions of DISTINCT ON.");
  return { kind: "distinct on", input, keys, order, columns: input.columns, span };
}

/** Which columns can still be named after GROUP BY, and where they are now. */
function placesOf({ keys }: GroupScope): Map<number, number> {
  const places = new Map<number, number>();
  for (const [place, key] of keys.entries())
    if (key.kind === "column" && key.depth === 0 && !places.has(key.index)) places.set(key.index, place);
  return places;
}

/** The names that PostgreSQL gives. */
function nameOf(expression: SqlExpression): string {
  if (expression.kind === "column" || expression.kind === "call") return expression.name;
  if (expression.kind === "cast")
    return expression.operand.kind === "column" ? expression.operand.name : expression.type;
  if (["case", "exists", "array"].includes(expression.kind)) return expression.kind;
  return "?column?";
}
