import type { ColumnWord, HeldBy, StreamColumns } from "./columns.js";

/** A row of a stream whose columns the compiler does not know. */
export type AnyRow = Readonly<Record<string, unknown>>;

/** What a column gives. Decimals are texts with all their digits, and times are texts as in ISO 8601. */
interface Given {
  readonly int: number;
  readonly float: number | "NaN" | "Infinity" | "-Infinity";
  readonly bool: boolean;
  readonly text: string;
  readonly timestamp: string;
  readonly numeric: string;
  readonly json: unknown;
}

/** What a column takes. */
interface Taken {
  readonly int: number | bigint;
  readonly float: number;
  readonly bool: boolean;
  readonly text: string;
  readonly timestamp: string | number | Date;
  readonly numeric: string | number | bigint;
  readonly json: unknown;
}

type Nullable<C extends StreamColumns> = { [K in keyof C]: C[K] extends `${string}?` ? K : never }[keyof C];
type OrNull<W extends ColumnWord> = W extends `${string}?` ? null : never;
type Shown<T> = { [K in keyof T]: T[K] } & {};

/** A row with these columns, as results have it. */
export type StreamRow<C extends StreamColumns> = Shown<{
  readonly [K in keyof C]: Given[HeldBy<C[K]>] | OrNull<C[K]>;
}>;

/** A row with these columns, as it is pushed: columns that can be NULL may be left out. */
export type RowToPush<C extends StreamColumns> = Shown<
  { readonly [K in Exclude<keyof C, Nullable<C>>]: Taken[HeldBy<C[K]>] } & {
    readonly [K in Nullable<C>]?: Taken[HeldBy<C[K]>] | null | undefined;
  }
>;

declare const ROWS: unique symbol;

/** The id of a stream or a query: its name, which knows the types of its rows and of the rows that are pushed into it. */
export type StreamId<R = AnyRow, P = never> = string & {
  readonly [ROWS]: { readonly result: R; readonly pushed: P };
};

/** The rows that a stream gives; a name that is only a string says nothing of them. */
export type ResultRow<S extends string> = S extends { readonly [ROWS]: { readonly result: infer R } }
  ? R
  : AnyRow;

/** The rows that a stream takes; a name that is only a string takes objects of any type, and the stream's columns are checked at run time. */
export type PushedRow<S extends string> = S extends { readonly [ROWS]: { readonly pushed: infer P } }
  ? P
  : object;

/** A row of a stream, by its number. `weight` is -1 for a row that is retracted. */
export interface NumberedRow<R = AnyRow> {
  readonly number: number;
  readonly weight: number;
  readonly row: R;
}

/** The answer to a push: the number of its first row, and how many rows were new. `isRepeated`: it was taken before. */
export interface PushReceipt {
  readonly first: number;
  readonly rows: number;
  /** Rows that were dropped because their event ids had been seen. */
  readonly duplicates: number;
  readonly isRepeated: boolean;
}
