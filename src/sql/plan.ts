import type { QuantifiedComparison, Scalar, SqlOperator, WindowKind } from "./ast.js";
import type { SqlColumn } from "./schema.js";
import type { Span } from "./source.js";
import type { SqlType } from "./types.js";

/**
 * A query with all names looked up and all types decided: a tree of relational operators whose columns are numbers. It is
 * plain data and can be stored as JSON. Three interpreters walk it: the analysis asks what could happen, `evaluate/` does
 * it by the book, and the streams compile it.
 *
 * Conversions are written out: the operands of an operator or a function have the types of one row of `catalog/`, and
 * where a query leaves a conversion to PostgreSQL, there is a `cast`. Only `untyped` operands are left as they are.
 */

/** Every expression knows its type, whether it can be NULL, and the words that it was made from. */
export interface Typed {
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly span: Span;
}

export type PlanExpression = Typed &
  (
    | ColumnExpression
    /** In the form of its type: see `Scalar`. */
    | { readonly kind: "constant"; readonly value: Scalar }
    /** `$1` is number 1: a value that comes with each request. */
    | { readonly kind: "parameter"; readonly number: number }
    | {
        readonly kind: "operator";
        readonly operator: SqlOperator;
        readonly operands: readonly PlanExpression[];
      }
    | { readonly kind: "call"; readonly name: string; readonly operands: readonly PlanExpression[] }
    /** To the expression's own type. */
    | { readonly kind: "cast"; readonly operand: PlanExpression }
    | {
        readonly kind: "case";
        readonly branches: readonly { readonly when: PlanExpression; readonly result: PlanExpression }[];
        readonly otherwise: PlanExpression | null;
      }
    | { readonly kind: "exists"; readonly plan: LogicalPlan }
    /** The row of the operands is among the rows of the plan, whose columns have the same types; or compares with one of them. */
    | {
        readonly kind: "in";
        readonly comparison: QuantifiedComparison;
        readonly operands: readonly PlanExpression[];
        readonly plan: LogicalPlan;
      }
    | { readonly kind: "scalar"; readonly plan: LogicalPlan }
  );

/** `depth` 0 is a column of the operator's own input; 1 of the query around it, and so on. */
export interface ColumnExpression {
  readonly kind: "column";
  readonly index: number;
  readonly depth: number;
}

export interface PlanColumn {
  readonly name: string;
  readonly expression: PlanExpression;
}

export type AggregateName =
  | "count"
  | "sum"
  | "avg"
  | "min"
  | "max"
  | "bool_and"
  | "bool_or"
  | "string_agg"
  | "array_agg"
  /** One that a program has declared. */
  | "user";

export interface AggregateCall extends Typed {
  readonly name: AggregateName;
  /** Of `user`: what the program calls it. */
  readonly user?: string;
  /** None for `count(*)`, two for `string_agg`. */
  readonly operands: readonly PlanExpression[];
  readonly distinct: boolean;
  /** Only rows for which this is true count. */
  readonly filter: PlanExpression | null;
  /** In which order `string_agg` and `array_agg` take the values; rows that it does not tell apart come in any order. */
  readonly order: readonly SortExpression[];
}

export interface SortExpression {
  readonly expression: PlanExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface OrderKey {
  readonly index: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export type RankFunction = "row_number" | "rank" | "dense_rank";

/** Parts of a partition: in how many of one size, or as a fraction of its rows. */
export type ShareFunction = "ntile" | "percent_rank" | "cume_dist";

/** A function over the rows around a row: those of its partition that come before it, or all of it. */
export interface OverCall extends Typed {
  readonly function:
    | { readonly kind: "rank"; readonly name: RankFunction }
    /** `buckets` is that of `ntile`. */
    | { readonly kind: "share"; readonly name: ShareFunction; readonly buckets: number }
    /** `offset` rows before (lag) or after (lead), or `otherwise` where there is no such row. */
    | {
        readonly kind: "neighbour";
        readonly name: "lag" | "lead";
        readonly operand: PlanExpression;
        readonly offset: number;
        readonly otherwise: PlanExpression | null;
      }
    | { readonly kind: "edge"; readonly name: "first_value" | "last_value"; readonly operand: PlanExpression }
    /** The row of the frame with this number, from 1 on. */
    | { readonly kind: "nth"; readonly nth: number; readonly operand: PlanExpression }
    | { readonly kind: "aggregate"; readonly aggregate: AggregateCall };
  readonly partition: readonly PlanExpression[];
  readonly order: readonly SortExpression[];
  readonly frame: FrameClause;
}

/**
 * The rows around a row that count, by their distance from it: negative before it, `null` without end. With `groups` and `range`, rows
 * that the order does not tell apart count together. Distances of `groups` count such groups; those of `range` are differences in
 * the one value of the order: of times, milliseconds.
 */
export interface FrameClause {
  readonly unit: "rows" | "range" | "groups";
  readonly start: number | null;
  readonly end: number | null;
}

export type SqlJoinKind = "inner" | "left" | "right" | "full";

export type SetOperation = "except" | "intersect";

export type LogicalPlan = {
  /** The columns that come out. */
  readonly columns: readonly SqlColumn[];
  readonly span: Span;
} & (
  | { readonly kind: "unit" } // one row without columns: what a SELECT without FROM selects from
  | { readonly kind: "values"; readonly rows: readonly (readonly PlanExpression[])[] }
  /** Each mention of a table is its own scan, with its own number: a self-join uses a table in two ways. */
  | { readonly kind: "scan"; readonly scan: number; readonly table: string }
  | WindowPlan
  | { readonly kind: "filter"; readonly input: LogicalPlan; readonly predicate: PlanExpression }
  | { readonly kind: "project"; readonly input: LogicalPlan; readonly outputs: readonly PlanColumn[] }
  /** The columns of the left side, then those of the right side. */
  | {
      readonly kind: "join";
      readonly join: SqlJoinKind;
      /** Rows of the left side meet the rows that the right side has when they come; what changes later changes nothing. */
      readonly isTemporal: boolean;
      /** Rows of the left side meet the versions that the right side had at the time in this column of theirs. */
      readonly asOf: { readonly index: number; readonly span: Span } | null;
      readonly left: LogicalPlan;
      readonly right: LogicalPlan;
      readonly on: PlanExpression | null;
    }
  | AggregatePlan
  /** The columns of the input, then those of the functions. */
  | { readonly kind: "over"; readonly input: LogicalPlan; readonly functions: readonly OverCall[] }
  | { readonly kind: "distinct"; readonly input: LogicalPlan }
  /** The first row, in this order, among rows that agree in these columns. */
  | {
      readonly kind: "distinct on";
      readonly input: LogicalPlan;
      readonly keys: readonly number[];
      readonly order: readonly OrderKey[];
    }
  /** UNION ALL; without ALL, a `distinct` is above it. */
  | { readonly kind: "union"; readonly left: LogicalPlan; readonly right: LogicalPlan }
  | {
      readonly kind: "set operation";
      readonly operation: SetOperation;
      readonly all: boolean;
      readonly left: LogicalPlan;
      readonly right: LogicalPlan;
    }
  | {
      readonly kind: "limit";
      readonly input: LogicalPlan;
      readonly order: readonly OrderKey[];
      readonly limit: number | null;
      readonly offset: number;
    }
);

/** Adds `window_start` and `window_end` to the columns. A row of `hop` and `cumulate` is in several windows, and comes once in each. */
export interface WindowPlan {
  readonly kind: "window";
  readonly window: WindowKind;
  readonly input: LogicalPlan;
  readonly time: number;
  readonly sizeMs: number;
  readonly slideMs: number;
  /** Windows start at multiples of the slide (`cumulate`: of the size), and so much later. */
  readonly offsetMs: number;
  readonly keys: readonly number[];
}

/** The keys, then the aggregates. Without GROUP BY there is one group, also when there are no rows. */
export interface AggregatePlan {
  readonly kind: "aggregate";
  readonly input: LogicalPlan;
  readonly grouped: boolean;
  readonly keys: readonly PlanExpression[];
  readonly aggregates: readonly AggregateCall[];
}

/** When a standing query gives its results: with every change, or each window once, when it is complete. */
export type Emit = "changes" | "on window close";

export interface ResolvedQuery {
  readonly plan: LogicalPlan;
  readonly text: string;
  readonly tables: Readonly<Record<string, readonly SqlColumn[]>>;
  /** The tables that are read. */
  readonly scanned: readonly string[];
  readonly usesParameters: boolean;
  /** The types of `$1`, `$2` and so on, as far as the query decides them. */
  readonly parameters: readonly SqlType[];
  /** `null` if the query does not say. */
  readonly emit: Emit | null;
}
