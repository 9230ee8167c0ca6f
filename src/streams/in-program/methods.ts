import type { RowIn, RowOf } from "./columns.js";
import type { Definitions } from "./definitions.js";
import type { Followed } from "./follow.js";
import type { RowChange } from "./rows.js";

/** `late_bids` as `lateBids`: SQL has no capital letters in names without quotes. */
export type Camel<N extends string> = N extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : N;

export function camel<N extends string>(name: N): Camel<N> {
  return name.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase()) as Camel<N>;
}

type Named<V extends string, N> = N extends string ? `${V}${Capitalize<Camel<N>>}` : never;

/** What to read of a table or a view. Values are those of its key's first columns. */
export interface ReadRange {
  /** Rows whose key begins with these values. */
  readonly key?: readonly unknown[];
  /** Rows from this key on, itself included. */
  readonly from?: readonly unknown[];
  /** Rows up to this key, itself included. */
  readonly to?: readonly unknown[];
  /** 10,000 unless told otherwise. */
  readonly limit?: number;
}

/** The methods that definitions give to their context. */
export type Methods<D extends Definitions> = {
  readonly [N in keyof D as D[N] extends { readonly kind: "stream" | "table" } ? Named<"push", N> : never]: (
    ...rows: RowIn<D[N]["columns"]>[]
  ) => void;
} & {
  readonly [N in keyof D as D[N] extends { readonly kind: "table" | "view" } ? Named<"read", N> : never]: (
    range?: ReadRange,
  ) => RowOf<D[N]["columns"]>[];
} & {
  readonly [N in keyof D as D[N] extends { readonly kind: "query" } ? Named<"follow", N> : never]: (
    from?: number,
  ) => Followed<RowOf<D[N]["columns"]>>;
};

/** The new results of queries, by their names. */
export type Changes<D extends Definitions> = {
  readonly [N in keyof D as D[N] extends { readonly kind: "query" }
    ? N extends string
      ? Camel<N>
      : never
    : never]?: readonly RowChange<RowOf<D[N]["columns"]>>[] | undefined;
};
