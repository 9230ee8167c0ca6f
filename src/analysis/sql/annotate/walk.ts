import type { LogicalPlan } from "../../../sql/index.js";
import type { ColumnTypes } from "../../graph.js";
import type { QueryFindings, Relation } from "../relation.js";
import type { ExpressionSite } from "../site.js";

/** What is known of the tables beyond their columns. */
export interface TableFacts {
  /** Columns without negative numbers, by table. */
  readonly nonNegative: Readonly<Record<string, readonly string[]>>;
  readonly types: Readonly<Record<string, ColumnTypes>>;
  /** The table whose rows are requests: each is answered on its own, so there is always one row, which stays. */
  readonly request: string | null;
}

/** What the annotation of an operator needs from the walk through the plan. */
export interface Walk {
  readonly text: string;
  readonly known: TableFacts;
  readonly findings: QueryFindings;
  /** What is known of a plan; `outer` are the rows of the queries around it. */
  readonly at: (plan: LogicalPlan, outer: readonly Relation[]) => Relation;
  /** Where the expressions of an operator stand. */
  readonly site: (stack: readonly Relation[]) => ExpressionSite;
}
