import { HeadwaterError } from "../../errors.js";
import { Batch, type Schema } from "../columns/index.js";
import { cellsOfJson } from "./json-record.js";

/** Rows of a program as a batch. Refused at the first row that does not fit, by its place from 1 on. */
export function batchOfRows(rows: readonly unknown[], schema: Schema): Batch {
  const batch = Batch.empty(schema, rows.length);
  for (const [i, row] of rows.entries()) {
    const cells = cellsOfJson(row, schema);
    if (typeof cells === "string") throw new HeadwaterError("HW-5302", `Row ${i + 1}: ${cells}`);
    batch.append(cells);
  }
  return batch;
}
