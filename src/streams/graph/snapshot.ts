import { HeadwaterError } from "../../errors.js";
import { encodeBatch, type Schema } from "../columns/index.js";
import type { GraphEngine } from "./graph-engine.js";

/** The rows of a table as they were at one moment, as batches of encoded columns. */
export interface SnapshotTable {
  readonly name: string;
  readonly columns: Schema;
  readonly rows: number;
  readonly batches: readonly Uint8Array[];
}

/** Rows are read in pieces of this size, so that their reader can stop or make way between two. */
const BATCH_ROWS = 8192;

/**
 * The rows of several tables and views at one moment. A stream, and a query that only adds rows, is read as its retained rows. What a
 * query that takes rows back holds now is kept only in a view.
 */
export function snapshot(
  { nodes }: GraphEngine,
  names: readonly string[],
  bytesMax: number,
): SnapshotTable[] {
  let bytes = 0;
  return names.map((name) => {
    const channel = nodes.channel(name);
    if (channel === null) throw new HeadwaterError("HW-5401", nodes.missing(name).message);
    const { schema, rows, log } = channel;
    if (rows === null && !nodes.isAppendOnly(name))
      throw new HeadwaterError(
        "HW-5410",
        `the results of "${name}" are changes, and which rows they add up to is not kept. ` +
          "Define it with CREATE MATERIALIZED VIEW to read it.",
      );
    bytes += rows?.memoryBytes ?? log.bytes;
    if (bytes > bytesMax)
      throw new HeadwaterError(
        "HW-5512",
        `the query reads more than ${bytesMax} bytes. Keep what is asked often in a view, and read that by its key.`,
      );
    if (rows === null) {
      const segments = log.all;
      const total = segments.reduce((sum, { entries }) => sum + entries, 0);
      return { name, columns: schema, rows: total, batches: segments.map((segment) => segment.bytes) };
    }
    const batches = [...rows.batches(BATCH_ROWS)];
    const total = batches.reduce((sum, batch) => sum + batch.rows, 0);
    return { name, columns: schema, rows: total, batches: batches.map(encodeBatch) };
  });
}
