import type { Schema } from "../columns/index.js";
import type { Plan } from "../plan/index.js";

/** How much of a stream stays readable: for subscribers that resume, for outputs that are behind, for backfill. */
export interface Retention {
  readonly bytes: number;
  /** `null`: however old it is. */
  readonly ms: number | null;
}

export const DEFAULT_RETENTION: Retention = { bytes: 4 * 1024 * 1024, ms: null };

/** The event time of a stream. */
export interface EventTime {
  readonly column: number;
  /** Rows come at most so much later than the latest of their producer. */
  readonly latenessMs: number;
  /** A producer that has pushed nothing for so long does not hold the watermark back. */
  readonly idleMs: number;
}

/** Rows with an id that was seen within `keepMs` are dropped. */
export interface EventId {
  readonly column: number;
  readonly keepMs: number;
}

/** Producers seal the partitions of a stream: no row with these values in these columns comes from them any more. */
export interface PartitionSeals {
  readonly columns: readonly number[];
  /** Who contributes to a partition, until others are declared. */
  readonly producers: readonly string[];
  /** A sealed partition is remembered for so long, to refuse rows that come later. */
  readonly keepMs: number;
  /** No partition begins while more is held for partitions that are not sealed. */
  readonly holdBytes: number;
}

/** A source of rows: a stream only grows; in a table, a row replaces the one before it with the same key. */
export interface StreamDefinition {
  readonly kind: "stream" | "table";
  readonly name: string;
  readonly columns: Schema;
  /** The primary key of a table. */
  readonly key: readonly number[];
  readonly time: EventTime | null;
  readonly eventId: EventId | null;
  readonly retention: Retention;
  readonly seals?: PartitionSeals;
  /** For a stream of another tenant: its rows are received as they are there, and no client pushes into it. */
  readonly origin?: ImportOrigin;
}

/** What a stream of another tenant is to queries there, and so to queries here. */
export interface ImportOrigin {
  readonly kind: "stream" | "changelog" | "table";
  readonly key: readonly number[] | null;
}

/** A standing query. It has one output stream, of the query's own name. */
export interface QueryDefinition {
  readonly kind: "query" | "view";
  readonly name: string;
  readonly sql: string;
  readonly plan: Plan;
  readonly emit: "changes" | "on window close";
  /** The streams, tables and queries that it reads. */
  readonly inputs: readonly string[];
  /**
   * Begin with what the inputs retain, and not with what comes from now on. `"quiet"`: that makes no results, which begin with what
   * comes from now on.
   */
  readonly backfill: boolean | "quiet";
  /** The columns of the results by which a view is read: the key of its groups. `null`: all columns. */
  readonly key: readonly number[] | null;
  readonly retention: Retention;
  /** What the registrant has chosen, if its answers depend on the order of rows. */
  readonly coordination: ChosenCoordination | null;
  /** It is divided into so many partitions, which run on contexts of their own. */
  readonly partitions: number;
  /**
   * It waits for seals on these columns of its first input: it is given whole partitions, and answers once for each.
   */
  readonly sealedOn?: readonly string[];
  /** Where it reads several streams: the columns of each that name the same partition, in one order. */
  readonly sealedTogether?: Readonly<Record<string, readonly string[]>>;
}

export type ChosenCoordination =
  | { readonly kind: "order" | "accept"; readonly reason: string }
  | { readonly kind: "seal"; readonly on?: readonly string[] };

/** A definition as text. Decimals beyond 2^53 are bigints, which JSON has no word for. */
export function definitionText(definition: StreamDefinition | QueryDefinition): string {
  return JSON.stringify(definition, (_, value: unknown) =>
    typeof value === "bigint" ? { $bigint: String(value) } : value,
  );
}

export function definitionOf<D extends StreamDefinition | QueryDefinition>(text: string): D {
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === "object" && value !== null && "$bigint" in value ? BigInt(String(value.$bigint)) : value,
  ) as D;
}
