import type { SqlExpression, SqlQuery } from "../ast.js";
import type { AggregateCall, LogicalPlan, OverCall, PlanExpression } from "../plan.js";
import type { Scope } from "./scope.js";
import type { Typing } from "./typing.js";

/** What GROUP BY made of the rows: the keys, and the aggregates as they are found in SELECT, HAVING and ORDER BY. */
export interface GroupScope {
  readonly keys: readonly PlanExpression[];
  /** The keys as they were written. */
  readonly written: readonly SqlExpression[];
  readonly aggregates: AggregateCall[];
  /** The names before the grouping: keys and operands of aggregates are about them. */
  readonly before: Scope;
}

/** The functions with OVER, as they are found in SELECT and ORDER BY. Their columns come after those of the rows. */
export interface Overs {
  readonly functions: OverCall[];
  /** How many columns the rows have that they are about. */
  readonly width: number;
}

/** What the resolver of an expression needs to know about the query that it stands in. */
export interface ResolveContext {
  readonly text: string;
  readonly typing: Typing;
  readonly subquery: (query: SqlQuery, outer: Scope) => LogicalPlan;
}

/** Where an expression stands: the names that it can use, and whether it may aggregate or look at other rows. */
export interface ExpressionPlace {
  readonly scope: Scope;
  readonly grouping: GroupScope | null;
  readonly overs: Overs | null;
}
