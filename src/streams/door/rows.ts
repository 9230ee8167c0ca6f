import { HeadwaterError } from "../../errors.js";
import type { Cell, Schema } from "../columns/index.js";
import { cellsOfJson } from "./json-record.js";

/** Rows of a program as cells. Refused at the first row that does not fit, by its place from 1 on. */
export function cellsOfRows(rows: readonly unknown[], schema: Schema): readonly (readonly Cell[])[] {
  return rows.map((row, i) => {
    const cells = cellsOfJson(row, schema);
    if (typeof cells === "string") throw new HeadwaterError("HW-5302", `Row ${i + 1}: ${cells}`);
    return cells;
  });
}
