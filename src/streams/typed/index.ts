/**
 * The types of rows, from the columns of their stream: `{ who: "text", n: "bigint?" }`. It has no code of Node, so that the client
 * in a browser has the same types as the library.
 */
export { columnsOf, type StreamColumns } from "./columns.js";
export type {
  AnyRow,
  NumberedRow,
  PushedRow,
  PushReceipt,
  ResultRow,
  RowToPush,
  StreamId,
  StreamRow,
} from "./rows.js";
