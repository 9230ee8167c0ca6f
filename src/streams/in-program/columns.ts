import { type ColumnSpec, type ColumnType, column as spec } from "../columns/index.js";
import { OPEN_SCALE } from "../sql/index.js";

declare const VALUE: unique symbol;

/** The type of a column, and in TypeScript that of its values. */
export interface ColumnKind<V> {
  readonly type: ColumnType;
  readonly isNullable: boolean;
  readonly [VALUE]?: V;
}

/** A column that holds a value in every row. `nullable` is the same with NULL allowed. */
export interface RequiredColumn<V> extends ColumnKind<V> {
  readonly isNullable: false;
  readonly nullable: NullableColumn<V>;
}

export interface NullableColumn<V> extends ColumnKind<V | null> {
  readonly isNullable: true;
}

export type Columns = Readonly<Record<string, RequiredColumn<unknown> | NullableColumn<unknown>>>;

type ValueOf<C> = C extends ColumnKind<infer V> ? V : never;

/** A row as it is read. */
export type RowOf<C extends Columns> = { readonly [N in keyof C]: ValueOf<C[N]> };

type NullableNames<C extends Columns> = {
  [N in keyof C]: C[N] extends { readonly isNullable: true } ? N : never;
}[keyof C];

/** A row as it is pushed: columns that can be NULL may be left out. */
export type RowIn<C extends Columns> = {
  readonly [N in Exclude<keyof C, NullableNames<C>>]: ValueOf<C[N]>;
} & { readonly [N in NullableNames<C>]?: ValueOf<C[N]> };

function required<V>(type: ColumnType): RequiredColumn<V> {
  return { type, isNullable: false, nullable: { type, isNullable: true } };
}

/**
 * The types of columns. Times are milliseconds since 1970, as `this.event.time` is. Decimals are texts, which keep all their
 * digits; `sum` of integers is a decimal, as in PostgreSQL: write `sum(n)::bigint` where it stays below 2^53.
 */
export const column = {
  int: required<number>("int"),
  float: required<number>("float"),
  bool: required<boolean>("bool"),
  text: required<string>("text"),
  timestamp: required<number>("timestamp"),
  numeric: required<string>("numeric"),
  json: required<unknown>("json"),
} as const;

export function specOf(name: string, { type, isNullable }: ColumnKind<unknown>): ColumnSpec {
  return spec(name, type, isNullable, type === "numeric" ? OPEN_SCALE : 0);
}
