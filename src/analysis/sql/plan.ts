import type { Operator, Scalar, WindowKind } from "./ast.js";
import type { Span } from "./source.js";

/**
 * A query with all names looked up: a tree of relational operators whose columns are numbers. Two interpreters walk it:
 * `annotate.ts` asks what could happen, `evaluate.ts` does it.
 */

export type AggregateName = "count" | "sum" | "avg" | "min" | "max" | "bool_and" | "bool_or";

export type PlanExpression = {
  readonly span: Span;
} /** `depth` 0 is a column of the operator's own input; 1 of the query around it, and so on. */ & (
  | { readonly kind: "column"; readonly index: number; readonly depth: number }
  | { readonly kind: "constant"; readonly value: Scalar }
  | { readonly kind: "parameter"; readonly number: number }
  | { readonly kind: "operator"; readonly operator: Operator; readonly operands: readonly PlanExpression[] }
  | { readonly kind: "call"; readonly name: string; readonly operands: readonly PlanExpression[] }
  | { readonly kind: "cast"; readonly type: string; readonly operand: PlanExpression }
  | {
      readonly kind: "case";
      readonly branches: readonly { readonly when: PlanExpression; readonly result: PlanExpression }[];
      readonly otherwise: PlanExpression | null;
    }
  | { readonly kind: "exists"; readonly plan: Plan }
  | { readonly kind: "in"; readonly operand: PlanExpression; readonly plan: Plan }
  | { readonly kind: "scalar"; readonly plan: Plan }
);

export interface PlanColumn {
  readonly name: string;
  readonly expression: PlanExpression;
}

export interface Aggregate {
  readonly name: AggregateName;
  /** `null` for `count(*)`. */
  readonly operand: PlanExpression | null;
  readonly distinct: boolean;
  readonly span: Span;
}

export interface SortKey {
  readonly index: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** `columns` are the names of the columns that come out. */
export type Plan = {
  readonly columns: readonly string[];
  readonly span: Span;
} /** One row without columns: what a SELECT without FROM selects from. */ & (
  | { readonly kind: "unit" }
  /** Each mention of a table is its own scan, with its own number: a self-join uses a table in two ways. */
  | { readonly kind: "scan"; readonly scan: number; readonly table: string }
  /** Adds `window_start` and `window_end` to the columns. */
  | {
      readonly kind: "window";
      readonly window: WindowKind;
      readonly input: Plan;
      readonly time: number;
      readonly sizeMs: number;
      readonly slideMs: number;
      readonly keys: readonly number[];
    }
  | { readonly kind: "filter"; readonly input: Plan; readonly predicate: PlanExpression }
  | { readonly kind: "project"; readonly input: Plan; readonly outputs: readonly PlanColumn[] }
  /** The columns of the left side, then those of the right side. */
  | {
      readonly kind: "join";
      readonly join: "inner" | "left";
      readonly left: Plan;
      readonly right: Plan;
      readonly on: PlanExpression | null;
    }
  /** The keys, then the aggregates. Without GROUP BY there is one group, also when there are no rows. */
  | {
      readonly kind: "aggregate";
      readonly input: Plan;
      readonly grouped: boolean;
      readonly keys: readonly PlanExpression[];
      readonly aggregates: readonly Aggregate[];
    }
  | { readonly kind: "distinct"; readonly input: Plan }
  | { readonly kind: "union"; readonly left: Plan; readonly right: Plan }
  | {
      readonly kind: "limit";
      readonly input: Plan;
      readonly order: readonly SortKey[];
      readonly limit: number | null;
      readonly offset: number;
    }
);

export interface ResolvedQuery {
  readonly plan: Plan;
  readonly text: string;
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The tables that are read. */
  readonly scanned: readonly string[];
  readonly usesParameters: boolean;
}
