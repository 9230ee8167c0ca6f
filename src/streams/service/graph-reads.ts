import { HeadwaterError } from "../../errors.js";
import type { Cell, Schema } from "../columns/index.js";
import type { GraphEngine } from "../graph/index.js";

/** Rows of a stream as segments of encoded columns, with the number of the first row of each. */
export interface RowsPage {
  readonly columns: Schema;
  readonly segments: readonly { readonly first: number; readonly rows: number; readonly bytes: Uint8Array }[];
  /** The numbers of the first row that is retained, and of the next row to come. */
  readonly first: number;
  readonly next: number;
}

/** Rows of a table or a view, in the order of their keys. */
export interface ViewRows {
  readonly columns: Schema;
  readonly key: readonly number[] | null;
  readonly rows: (readonly Cell[])[];
}

export type NextNumbers = readonly (readonly [name: string, next: number])[];

/** The numbers that the next rows of streams get. */
export function positionsOf({ nodes }: GraphEngine): NextNumbers {
  return nodes.channels.map(({ name, log }) => [name, log.next] as const);
}

export function rowsOf({ nodes }: GraphEngine, name: string, from: number, bytesMax: number): RowsPage {
  const channel = nodes.channel(name);
  if (channel === null) throw new HeadwaterError("HW-5401", nodes.missing(name).message);
  const { first, next } = channel.log;
  const segments = channel.log
    .read(Math.max(from, first), bytesMax)
    .map((segment) => ({ first: segment.first, rows: segment.entries, bytes: segment.bytes }));
  return { columns: channel.schema, segments, first, next };
}

export function viewOf(
  { nodes }: GraphEngine,
  name: string,
  from: readonly Cell[] | null,
  to: readonly Cell[] | null,
  rowsMax: number,
): ViewRows {
  const channel = nodes.channel(name);
  if (channel === null) throw new HeadwaterError("HW-5401", nodes.missing(name).message);
  if (channel.rows === null)
    throw new HeadwaterError(
      "HW-5410",
      `"${name}" is not a table or a materialized view, so it holds no rows. Read its results instead.`,
    );
  return { columns: channel.schema, key: channel.rows.key, rows: channel.rows.range(from, to, rowsMax) };
}
