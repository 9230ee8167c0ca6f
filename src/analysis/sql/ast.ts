import type { Span } from "./source.js";

/**
 * A query as it was written, reduced to what Headwater understands: everything else was refused by the parser. Names
 * are not looked up yet. Every node knows the words that it was made from.
 */

/** What a cell of a row can hold. A time is a number of milliseconds, so intervals can be added to it. */
export type Scalar = null | boolean | number | string;

export type Operator =
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
  | "is null"
  | "is not null";

export type Expression = { readonly span: Span } & (
  | { readonly kind: "column"; readonly table: string | null; readonly name: string }
  | { readonly kind: "constant"; readonly value: Scalar }
  /** `$1`: a value that comes with each request. */
  | { readonly kind: "parameter"; readonly number: number }
  | { readonly kind: "operator"; readonly operator: Operator; readonly operands: readonly Expression[] }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly operands: readonly Expression[];
      readonly distinct: boolean;
      /** `count(*)` */
      readonly star: boolean;
    }
  | { readonly kind: "cast"; readonly type: string; readonly operand: Expression }
  | {
      readonly kind: "case";
      readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
      readonly otherwise: Expression | null;
    }
  | { readonly kind: "exists"; readonly query: Query }
  | { readonly kind: "in"; readonly operand: Expression; readonly query: Query }
  /** A query in parentheses where a value is expected. */
  | { readonly kind: "scalar"; readonly query: Query }
);

export interface SelectItem {
  /** `null` for `*` and `t.*`. */
  readonly expression: Expression | null;
  readonly table: string | null;
  readonly alias: string | null;
  readonly span: Span;
}

export type WindowKind = "tumble" | "hop" | "session";

export type FromItem = { readonly span: Span } & (
  | { readonly kind: "table"; readonly name: string; readonly alias: string | null }
  | {
      readonly kind: "subquery";
      readonly query: Query;
      readonly alias: string | null;
      readonly columns: readonly string[];
    }
  | {
      readonly kind: "window";
      readonly window: WindowKind;
      readonly table: string;
      readonly tableSpan: Span;
      readonly time: Extract<Expression, { kind: "column" }>;
      readonly sizeMs: number;
      /** How far apart windows start; the same as `sizeMs` unless the windows hop. */
      readonly slideMs: number;
      /** The columns that sessions are kept apart by. */
      readonly keys: readonly Extract<Expression, { kind: "column" }>[];
      readonly alias: string | null;
    }
  | {
      readonly kind: "join";
      readonly join: "inner" | "left";
      readonly left: FromItem;
      readonly right: FromItem;
      readonly on: Expression | null;
      readonly using: readonly string[];
    }
);

export interface SortItem {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface Select {
  readonly kind: "select";
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly from: FromItem | null;
  readonly where: Expression | null;
  readonly groupBy: readonly Expression[];
  readonly having: Expression | null;
  readonly span: Span;
}

export interface Union {
  readonly kind: "union";
  readonly all: boolean;
  readonly left: Query;
  readonly right: Query;
  readonly span: Span;
}

export interface Query {
  readonly with: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly query: Query;
  }[];
  readonly body: Select | Union;
  readonly orderBy: readonly SortItem[];
  readonly limit: number | null;
  readonly offset: number;
  /** The words from LIMIT on, or of the whole query where there is none. */
  readonly limitSpan: Span;
  readonly span: Span;
}
