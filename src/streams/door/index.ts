/**
 * From bytes to columns: readers of NDJSON and CSV, and the schema of a file that has none. Readers check every record and
 * refuse the first that does not fit, with its line and byte; they hold no records back but the last, incomplete one.
 */
export { CsvReader } from "./csv.js";
export { inferCsv, inferNdjson } from "./infer.js";
export { cellsOfJson } from "./json-record.js";
export { NdjsonReader } from "./ndjson.js";
export type { Reader } from "./reader.js";
export { cellsOfRows } from "./rows.js";
