/**
 * Rows as typed columns, and batches of them as bytes. What lives here knows nothing of queries: readers at the door fill
 * batches, generated code reads and fills them, tables keep their values in the same columns.
 */
export { Batch } from "./batch.js";
export { ByteReader, ByteWriter } from "./bytes.js";
export { cancelled } from "./cancel.js";
export {
  type Column,
  cellAt,
  emptyColumn,
  grow,
  type NumberColumn,
  setCell,
  setNumeric,
  type TextColumn,
  widened,
} from "./column.js";
export { compareCells, compareRows, compareText } from "./compare.js";
export { decodeBatch, rowsIn } from "./decode.js";
export { encodeBatch, encodedShortly } from "./encode.js";
export { encodeRow, encodeRows } from "./encode-row.js";
export { appendRows, gathered, interleaved, lasting } from "./gather.js";
export { narrowed, numericOf, numericText, type Scaled } from "./numeric.js";
export { type Cell, type ColumnSpec, type ColumnType, column, type Schema } from "./schema.js";
export { Texts } from "./texts.js";
export {
  isoTime,
  isTimestamp,
  timestampOf,
  timestampOfText,
  timestampText,
  wholeMicros,
} from "./timestamp.js";
