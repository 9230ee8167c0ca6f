import type { StreamColumns } from "../typed/index.js";

export interface StreamChoices {
  /** The columns of the primary key. With one, it is a table: a row replaces the one before it with the same key. */
  readonly key?: readonly string[];
  /** The column with the event time, and how much later than the latest row of its producer a row can come. */
  readonly time?: { readonly column: string; readonly latenessMs?: number; readonly idleMs?: number };
  /** The column with the event id: a row whose id was seen within `keepMs` (a day) is dropped. */
  readonly eventId?: { readonly column: string; readonly keepMs?: number };
  readonly retention?: { readonly bytes?: number; readonly ms?: number | null };
  /** The columns by which producers seal partitions, and who the producers are. */
  readonly seals?: {
    readonly columns: readonly string[];
    readonly producers: readonly string[];
    readonly keepMs?: number;
    readonly holdBytes?: number;
  };
}

export interface QueryChoices {
  /** Begin with what the inputs retain, and not with what comes from now on. */
  readonly backfill?: boolean;
  /** The columns that the query must have; it is refused if it has others. */
  readonly columns?: StreamColumns;
  readonly retention?: { readonly bytes?: number; readonly ms?: number | null };
  /** What is chosen where answers depend on the order of rows: "order", "seal", "seal on (columns)" or "accept" with a reason. */
  readonly coordination?: string;
  readonly reason?: string;
  readonly partitions?: number;
}

export interface TokenChoices {
  readonly scopes: readonly ("operator" | "admin" | "define" | "push" | "read")[];
  /** In milliseconds since 1970; without it, the token does not expire. */
  readonly expiresMs?: number | null;
}

export interface Range {
  readonly from?: readonly (string | number | boolean)[];
  readonly to?: readonly (string | number | boolean)[];
  readonly limit?: number;
}

/** A stream, table, query or view as the service describes it. */
export interface DescribedStream {
  readonly name: string;
  readonly kind: "stream" | "table" | "query" | "view";
  readonly columns: readonly { readonly name: string; readonly type: string; readonly nullable: boolean }[];
  /** The numbers of the first row that is retained, and of the next row to come. */
  readonly first: number;
  readonly next: number;
  readonly sql: string | null;
  readonly inputs: readonly string[];
  readonly readers: readonly string[];
  readonly producers: readonly { readonly name: string; readonly sequence: number | null }[];
}
