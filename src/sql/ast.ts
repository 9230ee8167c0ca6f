import type { Emit, FrameClause, SetOperation, SqlJoinKind } from "./plan.js";
import type { Span } from "./source.js";
import type { OpenType, SqlType } from "./types.js";

/**
 * A query as it was written, reduced to what Headwater understands: everything else was refused by the parser. Names and
 * types are not looked up yet. Every node knows the words that it was made from.
 */

/**
 * What a cell of a row holds, by its type: a number for int2, int4, int8, float4 and float8; a decimal text such as `-1.50`
 * for numeric; a number of milliseconds since 1970 for date, timestamp and timestamptz, with microseconds as its fraction,
 * and of milliseconds for an interval; a text for text, uuid, json and jsonb.
 */
export type Scalar = null | boolean | number | string | readonly Scalar[];

export type SqlOperator =
  | "and"
  | "or"
  | "not"
  | "="
  | "<>"
  | "<"
  | "<="
  | ">"
  | ">="
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "||"
  | "negate"
  | "like"
  | "ilike"
  | "is null"
  | "is not null"
  | "is distinct from"
  | "is not distinct from"
  | "->"
  | "->>"
  | "#>"
  | "#>>"
  | "@>"
  | "<@"
  | "?"
  | "~"
  | "~*"
  | "!~"
  | "!~*"
  | "[]";

export type QuantifiedComparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

export type SqlExpression = { readonly span: Span } & (
  | { readonly kind: "column"; readonly table: string | null; readonly name: string }
  | { readonly kind: "constant"; readonly value: Scalar; readonly type: OpenType }
  /** `$1`: a value that comes with each request. */
  | { readonly kind: "parameter"; readonly number: number }
  | { readonly kind: "operator"; readonly operator: SqlOperator; readonly operands: readonly SqlExpression[] }
  | FunctionCall
  | { readonly kind: "cast"; readonly type: SqlType; readonly operand: SqlExpression }
  | {
      readonly kind: "case";
      readonly branches: readonly { readonly when: SqlExpression; readonly result: SqlExpression }[];
      readonly otherwise: SqlExpression | null;
    }
  | { readonly kind: "array"; readonly elements: readonly SqlExpression[] }
  | { readonly kind: "exists"; readonly query: SqlQuery }
  /** `x IN (…)` is `x = ANY (…)`; a row of several operands is compared with `=` only. */
  | {
      readonly kind: "in";
      readonly comparison: QuantifiedComparison;
      readonly operands: readonly SqlExpression[];
      readonly query: SqlQuery;
    }
  /** A query in parentheses where a value is expected. */
  | { readonly kind: "scalar"; readonly query: SqlQuery }
);

export interface FunctionCall {
  readonly kind: "call";
  readonly span: Span;
  readonly name: string;
  readonly operands: readonly SqlExpression[];
  readonly distinct: boolean;
  /** `count(*)` */
  readonly star: boolean;
  readonly filter: SqlExpression | null;
  readonly order: readonly SortItem[];
  readonly over: OverClause | null;
}

export interface OverClause {
  readonly partition: readonly SqlExpression[];
  readonly order: readonly SortItem[];
  /** Of what type the distances of RANGE are; `null` if it has none. */
  readonly frame: FrameClause & { readonly distance: OpenType | null };
}

/** Windows that stand in GROUP BY. Sessions are kept apart by what else stands there. */
export interface GroupWindow extends WindowClause {
  readonly span: Span;
}

/** The table of the columns of a window in GROUP BY. The blank keeps it apart from names that people give. */
export const GROUP_WINDOW = "group window";

export interface SelectItem {
  /** `null` for `*` and `t.*`. */
  readonly expression: SqlExpression | null;
  readonly table: string | null;
  readonly alias: string | null;
  readonly span: Span;
}

/** Windows of `cumulate` begin like those of `tumble`, and there is one for each step up to the size. */
export type WindowKind = "tumble" | "hop" | "cumulate" | "session";

/** Windows of a time: how long they are, and where they begin. */
export interface WindowClause {
  readonly window: WindowKind;
  readonly time: ColumnName;
  readonly sizeMs: number;
  /** How far apart windows start, or end with `cumulate`; the same as `sizeMs` unless the windows overlap. */
  readonly slideMs: number;
  readonly offsetMs: number;
}

export type ColumnName = Extract<SqlExpression, { kind: "column" }>;

export type FromItem = { readonly span: Span } & (
  | {
      readonly kind: "table";
      readonly name: string;
      readonly alias: string | null;
      /**
       * FOR SYSTEM_TIME AS OF: the table as it is when the row of the other side is processed, or as it was at a time that is a column
       * of the other side.
       */
      readonly version: "now" | ColumnName | null;
    }
  | {
      readonly kind: "subquery";
      readonly query: SqlQuery;
      readonly alias: string | null;
      readonly columns: readonly string[];
    }
  | {
      readonly kind: "window";
      readonly clause: WindowClause;
      readonly table: string;
      readonly tableSpan: Span;
      /** The columns that sessions are kept apart by. */
      readonly keys: readonly ColumnName[];
      readonly alias: string | null;
    }
  | {
      readonly kind: "join";
      readonly join: SqlJoinKind;
      readonly left: FromItem;
      readonly right: FromItem;
      readonly on: SqlExpression | null;
      /** The columns that both sides have: those with these names, or all that have the same names. */
      readonly using: readonly string[] | "natural";
    }
);

export interface SortItem {
  readonly expression: SqlExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface Select {
  readonly kind: "select";
  readonly distinct: boolean;
  readonly distinctOn: readonly SqlExpression[];
  readonly items: readonly SelectItem[];
  readonly from: FromItem | null;
  readonly where: SqlExpression | null;
  /** `GROUP BY TUMBLE(ts, …)`: rows get their windows behind WHERE, as the columns of a table `GROUP_WINDOW` that only groups by. */
  readonly groupWindow: GroupWindow | null;
  readonly groupBy: readonly SqlExpression[];
  readonly having: SqlExpression | null;
  /** What the clause WINDOW defines, used or not. */
  readonly windows: readonly OverClause[];
  readonly span: Span;
}

export interface Combination {
  readonly kind: "combination";
  readonly operation: "union" | SetOperation;
  readonly all: boolean;
  readonly left: SqlQuery;
  readonly right: SqlQuery;
  readonly span: Span;
}

export interface ValuesClause {
  readonly kind: "values";
  readonly rows: readonly (readonly SqlExpression[])[];
  readonly span: Span;
}

export interface SqlQuery {
  readonly with: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly query: SqlQuery;
  }[];
  readonly body: Select | Combination | ValuesClause;
  readonly orderBy: readonly SortItem[];
  readonly limit: number | null;
  readonly offset: number;
  /** The words from LIMIT on, or of the whole query where there is none. */
  readonly limitSpan: Span;
  readonly emit: Emit | null;
  readonly span: Span;
}
