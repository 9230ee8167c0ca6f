import type { SqlType } from "../../sql/index.js";
import type { Cell, ColumnSpec } from "../columns/index.js";
import { cellText } from "../outputs/index.js";

/** A cell as PostgreSQL sends it to its clients. */
export function pgText(cell: Exclude<Cell, null>, spec: ColumnSpec, type: SqlType): string {
  const text = cellText(cell, spec);
  switch (type) {
    case "bool":
      return cell === true ? "t" : "f";
    case "date":
      return text.slice(0, "2025-12-31".length);
    case "timestamptz":
      return `${text}+00`;
    default:
      return text;
  }
}
