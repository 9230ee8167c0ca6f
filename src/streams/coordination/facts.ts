import type { ResolvedQuery, SqlColumn } from "../../sql/index.js";

/** What is known of a stream from outside before any row comes. */
export interface StreamFacts {
  readonly name: string;
  readonly columns: readonly SqlColumn[];
  /** Of a table: a row replaces the one with the same key. Empty for a stream. */
  readonly key: readonly string[];
  /** The column whose watermark closes windows. */
  readonly watermark: string | null;
  /** The watermark is an estimate: rows may come later than it, because its lateness bound is a guess. */
  readonly isEstimated: boolean;
  /** The columns whose partitions producers seal, and who they are. */
  readonly seals: { readonly columns: readonly string[]; readonly producers: readonly string[] } | null;
  /** One producer writes it, and numbers its batches. */
  readonly isSingleWriter: boolean;
}

export interface QueryFacts {
  /** Also the name of its output, which other queries read. */
  readonly name: string;
  readonly query: ResolvedQuery;
  readonly coordination: CoordinationChoice | null;
  /** It gives answers before its input is complete, and takes back answers that turn out wrong. */
  readonly retracts: boolean;
  /** The column of its answers whose watermark it passes on, so that windows over them close. */
  readonly watermark: string | null;
  /** What completes its input: the watermark, unless it is given the partitions that producers have sealed. */
  readonly waitsFor?: "keys";
}

/**
 * What the registrant has chosen for a query whose answers depend on the order of rows: one order for all (the tickets of
 * the graph), seals, or to live with it. The reason is for the people who read the query later.
 */
export type CoordinationChoice =
  | { readonly kind: "order"; readonly reason: string }
  /** `on`: by these columns, and not by others that would fit. */
  | { readonly kind: "seal"; readonly on?: readonly string[] }
  | { readonly kind: "accept"; readonly reason: string };
