import { LIBRARY } from "../codegen/index.js";
import {
  type Cell,
  type ColumnSpec,
  isoTime,
  numericText,
  type Scaled,
  timestampText,
} from "../columns/index.js";

/** A cell as PostgreSQL writes it; truth values in full. */
export function cellText(cell: Exclude<Cell, null>, { type, scale }: ColumnSpec): string {
  switch (type) {
    case "float":
      return LIBRARY.floatText(Number(cell));
    case "timestamp":
      return timestampText(Number(cell));
    case "numeric":
      return numericText(cell as Scaled, scale);
    default:
      return String(cell);
  }
}

/** A cell as JSON. A decimal keeps all its digits; a float that JSON has no number for is its name as a text. */
export function cellJson(cell: Cell, spec: ColumnSpec): string {
  if (cell === null) return "null";
  switch (spec.type) {
    case "text":
      return JSON.stringify(cell);
    case "json":
      return String(cell);
    case "timestamp":
      return JSON.stringify(isoTime(Number(cell)));
    case "float":
      return Number.isFinite(cell) ? JSON.stringify(cell) : JSON.stringify(cellText(cell, spec));
    default:
      return cellText(cell, spec);
  }
}
