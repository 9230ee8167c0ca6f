/**
 * The types of rows, from the columns of their stream: `{ who: "text", n: "bigint?" }`. It has no code of Node, so that the client
 * in a browser has the same types as the library.
 */
export { type Columns, columnsOf } from "./columns.js";
export type {
  AnyRow,
  NumberedRow,
  PushAnswer,
  PushedRow,
  ResultRow,
  RowOf,
  RowToPush,
  StreamId,
} from "./rows.js";
