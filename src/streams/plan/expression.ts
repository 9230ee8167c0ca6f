import type { Cell, ColumnType } from "../columns/index.js";

/** `interval` is a length of time in milliseconds: it stands in expressions, and no column holds one. */
export type ValueType = ColumnType | "interval";

/** What is known of a value before any row comes. */
export interface Type {
  readonly type: ValueType;
  readonly nullable: boolean;
  /** The digits after the point of a `numeric`. */
  readonly scale: number;
}

export type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";
export type Arithmetic = "+" | "-" | "*" | "/" | "%";

/**
 * An expression over the columns of one row, checked: every part has its type, operands have the types that their operator
 * takes, and conversions are casts. Code is generated from nothing else.
 */
export type Expression = Type &
  (
    | { readonly kind: "column"; readonly index: number }
    | { readonly kind: "constant"; readonly value: Cell | readonly Cell[] }
    | { readonly kind: "and" | "or"; readonly operands: readonly Expression[] }
    | { readonly kind: "not"; readonly operand: Expression }
    | { readonly kind: "is null"; readonly operand: Expression }
    | {
        readonly kind: "compare";
        readonly operator: Comparison;
        readonly left: Expression;
        readonly right: Expression;
      }
    | {
        readonly kind: "arithmetic";
        readonly operator: Arithmetic;
        readonly left: Expression;
        readonly right: Expression;
      }
    | { readonly kind: "negate"; readonly operand: Expression }
    | { readonly kind: "like"; readonly text: Expression; readonly pattern: Expression }
    | { readonly kind: "call"; readonly name: FunctionName; readonly operands: readonly Expression[] }
    /** A function of `sql/builtins`, by its id. NULL if an operand is, or if it is nullable and says so. */
    | { readonly kind: "builtin"; readonly id: string; readonly operands: readonly Expression[] }
    | { readonly kind: "cast"; readonly operand: Expression }
    | {
        readonly kind: "case";
        readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
        readonly otherwise: Expression | null;
      }
    | { readonly kind: "coalesce"; readonly operands: readonly Expression[] }
    | { readonly kind: "greatest" | "least"; readonly operands: readonly Expression[] }
  );

/** Functions whose result is NULL if an operand is. Some take several types. */
export type FunctionName =
  | "abs"
  | "ceil"
  | "concat"
  | "date_trunc"
  | "exp"
  | "extract"
  | "floor"
  | "int2"
  | "int4"
  | "left"
  | "length"
  | "ln"
  | "lower"
  | "ltrim"
  | "power"
  | "replace"
  | "reverse"
  | "right"
  | "round"
  | "rtrim"
  | "sign"
  | "split_part"
  | "sqrt"
  | "starts_with"
  | "strpos"
  | "substring"
  | "trim"
  | "trunc"
  | "upper";
