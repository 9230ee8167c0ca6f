import type { SqlQuery } from "../ast.js";
import type { LogicalPlan, ResolvedQuery } from "../plan.js";
import { columnOf, type SqlColumn, type SqlSchema } from "../schema.js";
import { resolveCombination, resolveValues } from "./combination.js";
import type { ResolveContext } from "./context.js";
import { refusal } from "./refusals.js";
import type { Scope } from "./scope.js";
import { resolveSelect } from "./select.js";
import { Typing } from "./typing.js";

/** The queries that WITH gave names to, innermost first. */
export interface Named {
  readonly name: string;
  readonly columns: readonly string[];
  readonly query: SqlQuery;
  /** What could be named where this one was written. */
  readonly before: Named | null;
}

/** Looks up every name of a query in the columns of the tables that there are, and decides every type. */
export function resolveQuery(query: SqlQuery, text: string, schema: SqlSchema): ResolvedQuery {
  const tables = Object.fromEntries(
    Object.entries(schema).map(([name, columns]) => [name, columns.map(columnOf)]),
  );
  const resolver = new Resolver(text, tables);
  const plan = resolver.query(query, null, null);
  const { typing } = resolver;
  return {
    plan,
    text,
    tables,
    scanned: [...resolver.scanned],
    usesParameters: typing.usesParameters,
    parameters: typing.parameters,
    emit: query.emit,
  };
}

/** Each use of a query that WITH named is a copy of it, so copies of copies could grow without end. */
const SCANS_MAX = 1000;

export class Resolver {
  readonly text: string;
  readonly tables: Readonly<Record<string, readonly SqlColumn[]>>;
  readonly typing: Typing;
  readonly scanned = new Set<string>();
  #scans = 0;

  constructor(text: string, tables: Readonly<Record<string, readonly SqlColumn[]>>) {
    this.text = text;
    this.tables = tables;
    this.typing = new Typing(text);
  }

  /** Called for each mention of a table: gives it its number. */
  nextScan(span: SqlQuery["span"]): number {
    if (this.#scans >= SCANS_MAX)
      throw refusal(this.text, span, `The query reads tables in more than ${SCANS_MAX} places.`);
    return this.#scans++;
  }

  query(query: SqlQuery, outer: Scope | null, named: Named | null): LogicalPlan {
    let inner = named;
    for (const { name, columns, query: definition } of query.with)
      inner = { name, columns, query: definition, before: inner };
    const { body } = query;
    if (body.kind === "select") return resolveSelect(this, body, query, outer, inner);
    if (body.kind === "values") return resolveValues(this, body, query, outer, inner);
    return resolveCombination(this, body, query, outer, inner);
  }

  context(named: Named | null): ResolveContext {
    const { text, typing } = this;
    return { text, typing, subquery: (query, scope) => this.query(query, scope, named) };
  }
}
