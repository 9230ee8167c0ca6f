import type { Expression, Query, Select, SortItem, Union } from "./ast.js";
import type { Plan, PlanColumn, ResolvedQuery, SortKey } from "./plan.js";
import {
  type Grouping,
  type ResolveContext,
  refusal,
  resolveExpression,
  sameExpression,
  usesAggregate,
} from "./resolve-expression.js";
import { resolveFrom } from "./resolve-from.js";
import { Scope, senseless, unknown } from "./scope.js";

/** The queries that WITH gave names to, innermost first. */
export interface Named {
  readonly name: string;
  readonly columns: readonly string[];
  readonly query: Query;
  /** What could be named where this one was written. */
  readonly before: Named | null;
}

/** Looks up every name of a query in the columns of the tables that there are. */
export function resolveQuery(
  query: Query,
  text: string,
  tables: Readonly<Record<string, readonly string[]>>,
): ResolvedQuery {
  const resolver = new Resolver(text, tables);
  const plan = resolver.query(query, null, null);
  return { plan, text, tables, scanned: [...resolver.scanned], usesParameters: resolver.usesParameters };
}

/** Each use of a query that WITH named is a copy of it, so copies of copies could grow without end. */
const SCANS_MAX = 1000;

export class Resolver {
  readonly text: string;
  readonly tables: Readonly<Record<string, readonly string[]>>;
  usesParameters = false;
  readonly scanned = new Set<string>();
  #scans = 0;

  constructor(text: string, tables: Readonly<Record<string, readonly string[]>>) {
    this.text = text;
    this.tables = tables;
  }

  /** Called for each mention of a table: gives it its number. */
  nextScan(span: Query["span"]): number {
    if (this.#scans >= SCANS_MAX)
      throw refusal(this.text, span, `The query reads tables in more than ${SCANS_MAX} places.`);
    return this.#scans++;
  }

  query(query: Query, outer: Scope | null, named: Named | null): Plan {
    let inner = named;
    for (const { name, columns, query: definition } of query.with)
      inner = { name, columns, query: definition, before: inner };
    const plan =
      query.body.kind === "union"
        ? this.#union(query.body, query, outer, inner)
        : this.#select(query.body, query, outer, inner);
    return plan;
  }

  context(named: Named | null): ResolveContext {
    return {
      text: this.text,
      subquery: (query, scope) => this.query(query, scope, named),
      parameter: () => {
        this.usesParameters = true;
      },
    };
  }

  #union(union: Union, query: Query, outer: Scope | null, named: Named | null): Plan {
    const left = this.query(union.left, outer, named);
    const right = this.query(union.right, outer, named);
    if (left.columns.length !== right.columns.length)
      throw senseless(
        this.text,
        union.span,
        `The sides of UNION have ${left.columns.length} and ${right.columns.length} columns.`,
      );
    const both: Plan = { kind: "union", left, right, columns: left.columns, span: union.span };
    const plan: Plan = union.all
      ? both
      : { kind: "distinct", input: both, columns: both.columns, span: union.span };
    const order = query.orderBy.map((item) => {
      const index = outputIndex(item.expression, plan.columns);
      if (index === null)
        throw this.#badOrder(item, "after UNION, ORDER BY takes names or numbers of columns");
      return sortKey(item, index);
    });
    return this.#limited(plan, query, order);
  }

  #select(select: Select, query: Query, outer: Scope | null, named: Named | null): Plan {
    const { span } = select;
    const context = this.context(named);
    const from = resolveFrom(this, select.from, outer, named, span);
    let plan = from.plan;
    let scope = new Scope(this.text, from.visible, outer);
    if (select.where !== null) {
      const predicate = resolveExpression(context, select.where, scope, null);
      plan = { kind: "filter", input: plan, predicate, columns: plan.columns, span: select.where.span };
    }
    const grouping = this.#grouping(select, query, scope, context);
    if (grouping !== null) scope = scope.grouped(placesOf(grouping));
    const outputs = this.#outputs(select, scope, grouping, context);
    const having = select.having === null ? null : resolveExpression(context, select.having, scope, grouping);
    const hidden: PlanColumn[] = [];
    const order = query.orderBy.map((item) => {
      const named = outputIndex(
        item.expression,
        outputs.map(({ name }) => name),
      );
      if (named !== null) return sortKey(item, named);
      if (item.expression.kind === "constant")
        throw this.#badOrder(item, "ORDER BY takes its columns by name or number");
      const expression = resolveExpression(context, item.expression, scope, grouping);
      const known = outputs.findIndex((output) => sameExpression(output.expression, expression));
      if (known >= 0) return sortKey(item, known);
      if (select.distinct) throw this.#badOrder(item, "with DISTINCT, ORDER BY takes columns of the result");
      hidden.push({ name: "", expression });
      return sortKey(item, outputs.length + hidden.length - 1);
    });
    if (grouping !== null) plan = grouped(plan, grouping, select);
    if (having !== null && select.having !== null)
      plan = {
        kind: "filter",
        input: plan,
        predicate: having,
        columns: plan.columns,
        span: select.having.span,
      };
    plan = project(plan, [...outputs, ...hidden], span);
    if (select.distinct) plan = { kind: "distinct", input: plan, columns: plan.columns, span };
    plan = this.#limited(plan, query, order);
    if (hidden.length === 0) return plan;
    return project(
      plan,
      outputs.map(({ name, expression }, index) => ({
        name,
        expression: { kind: "column", index, depth: 0, span: expression.span },
      })),
      span,
    );
  }

  #grouping(select: Select, query: Query, scope: Scope, context: ResolveContext): Grouping | null {
    const used = [
      ...select.items.flatMap(({ expression }) => expression ?? []),
      ...query.orderBy.map(({ expression }) => expression),
    ].some(usesAggregate);
    if (select.groupBy.length === 0 && select.having === null && !used) return null;
    const keys = select.groupBy.map((expression) => {
      const written = this.#groupedExpression(expression, select, scope);
      return resolveExpression(context, written, scope, null);
    });
    return { keys, aggregates: [], before: scope };
  }

  /** `GROUP BY 1` and `GROUP BY alias`; as in PostgreSQL, a column of a table comes before an alias. */
  #groupedExpression(expression: Expression, select: Select, scope: Scope): Expression {
    if (expression.kind === "constant" && typeof expression.value === "number") {
      const item = select.items[expression.value - 1]?.expression;
      if (item === undefined || item === null)
        throw senseless(
          this.text,
          expression.span,
          `There is no column number ${expression.value} in SELECT.`,
        );
      return item;
    }
    if (expression.kind !== "column" || expression.table !== null) return expression;
    if (scope.visible.some(({ name }) => name === expression.name)) return expression;
    return select.items.find(({ alias }) => alias === expression.name)?.expression ?? expression;
  }

  #outputs(select: Select, scope: Scope, grouping: Grouping | null, context: ResolveContext): PlanColumn[] {
    return select.items.flatMap((item): PlanColumn[] => {
      if (item.expression !== null) {
        const expression = resolveExpression(context, item.expression, scope, grouping);
        return [{ name: item.alias ?? nameOf(item.expression), expression }];
      }
      return scope.star(item.table, item.span).map(({ table, name }) => {
        const place = scope.find({ kind: "column", table, name, span: item.span });
        return { name, expression: { kind: "column", ...place, span: item.span } };
      });
    });
  }

  #limited(plan: Plan, query: Query, order: readonly SortKey[]): Plan {
    if (query.limit === null && query.offset === 0) return plan; // a stream has no order, so none is made
    if (order.length === 0)
      throw refusal(
        this.text,
        query.limitSpan,
        "LIMIT needs an ORDER BY: without one, chance decides which rows are left.",
      );
    const { limit, offset } = query;
    return { kind: "limit", input: plan, order, limit, offset, columns: plan.columns, span: query.limitSpan };
  }

  #badOrder(item: SortItem, why: string) {
    return unknown(this.text, item.expression.span, `This is no column of the result: ${why}.`);
  }
}

export function project(input: Plan, outputs: readonly PlanColumn[], span: Plan["span"]): Plan {
  return { kind: "project", input, outputs, columns: outputs.map(({ name }) => name), span };
}

function grouped(input: Plan, { keys, aggregates }: Grouping, select: Select): Plan {
  const columns = [...keys.map(() => ""), ...aggregates.map(({ name }) => name)];
  const [first] = select.groupBy;
  const last = select.groupBy.at(-1);
  const span =
    first === undefined || last === undefined ? select.span : { start: first.span.start, end: last.span.end };
  return { kind: "aggregate", input, grouped: select.groupBy.length > 0, keys, aggregates, columns, span };
}

/** Which columns can still be named after GROUP BY, and where they are now. */
function placesOf({ keys }: Grouping): Map<number, number> {
  const places = new Map<number, number>();
  for (const [place, key] of keys.entries())
    if (key.kind === "column" && key.depth === 0 && !places.has(key.index)) places.set(key.index, place);
  return places;
}

function outputIndex(expression: Expression, names: readonly string[]): number | null {
  if (expression.kind === "constant" && typeof expression.value === "number")
    return Number.isInteger(expression.value) && expression.value >= 1 && expression.value <= names.length
      ? expression.value - 1
      : null;
  if (expression.kind !== "column" || expression.table !== null) return null;
  const index = names.indexOf(expression.name);
  return index < 0 ? null : index;
}

function sortKey({ descending, nullsFirst }: SortItem, index: number): SortKey {
  return { index, descending, nullsFirst };
}

/** The names that PostgreSQL gives. */
function nameOf(expression: Expression): string {
  if (expression.kind === "column") return expression.name;
  if (expression.kind === "call") return expression.name;
  if (expression.kind === "cast")
    return expression.operand.kind === "column" ? expression.operand.name : expression.type;
  if (expression.kind === "case") return "case";
  if (expression.kind === "exists") return "exists";
  return "?column?";
}
