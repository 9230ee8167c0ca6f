import type { Columns } from "./columns.js";

/** How much of a stream or of results stays readable: for queries that are added later and for clients that resume. */
export interface Retained {
  readonly bytes?: number;
  readonly ms?: number;
}

export interface StreamOptions<C extends Columns> {
  /** The column with the event time of a row, which windows are made of. */
  readonly time?: keyof C & string;
  /** Rows come at most so much later than the latest one before them. */
  readonly latenessMs?: number;
  /** When no row has come for so long, event time goes on with the clock, and windows close. */
  readonly idleMs?: number;
  readonly retain?: Retained;
}

export interface StreamOf<C extends Columns> extends StreamOptions<C> {
  readonly kind: "stream";
  readonly columns: C;
}

export interface TableOf<C extends Columns> {
  readonly kind: "table";
  readonly columns: C;
  readonly key: readonly (keyof C & string)[];
}

export interface ViewOf<C extends Columns> {
  readonly kind: "view";
  readonly columns: C;
  readonly sql: string;
}

export interface QueryOf<C extends Columns> {
  readonly kind: "query";
  readonly columns: C;
  readonly sql: string;
  readonly retain?: Retained;
}

export type Definition = StreamOf<Columns> | TableOf<Columns> | ViewOf<Columns> | QueryOf<Columns>;

/** Streams, tables, views and queries by name. Each can read those before it. */
export type Definitions = Readonly<Record<string, Definition>>;

/** Rows that are pushed, and only grow in number. */
export function stream<const C extends Columns>(columns: C, options: StreamOptions<C> = {}): StreamOf<C> {
  return { kind: "stream", columns, ...options };
}

/** Rows that are pushed; a row replaces the one before it that has the same key. */
export function table<const C extends Columns>(columns: C, ...key: (keyof C & string)[]): TableOf<C> {
  return { kind: "table", columns, key };
}

/** The rows of a SELECT as they are now, to be read. `columns` are those of the SELECT, in their order. */
export function view<const C extends Columns>(columns: C, sql: string): ViewOf<C> {
  return { kind: "view", columns, sql };
}

/** The results of a SELECT as they come, numbered: for `changed`, and for clients that follow them. */
export function query<const C extends Columns>(
  columns: C,
  sql: string,
  options: { readonly retain?: Retained } = {},
): QueryOf<C> {
  return { kind: "query", columns, sql, ...options };
}
