import type { ColumnType } from "./schema.js";

/**
 * The bytes of a batch, for the journal, between hosts and over WebSocket:
 *
 *     mark, version, flags, rows, columns
 *     each column: its type with the flag for NULLs, the NULLs as bits, the values
 *     the weights, if there are any
 *     CRC-32 of all of the above
 *
 * Names are not in it: both sides know the schema, and the types are compared with it. Numbers are written as offsets from
 * the least one where all are integers, in one, two or four bytes, since times and ids of one batch lie close together. A
 * text is written once per batch.
 */
export const MARK = 0xb7;
export const VERSION = 1;
export const WEIGHTED = 1;
export const HAS_NULLS = 0x80;

export const TAGS: Readonly<Record<ColumnType, number>> = {
  int: 1,
  float: 2,
  bool: 3,
  text: 4,
  timestamp: 5,
  numeric: 6,
  json: 7,
};

/** How numbers are written. The widths of offsets are their bytes. */
export const SAME = 0;
export const RAW = 8;
export const WITH_BIGS = 16;
