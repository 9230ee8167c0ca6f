import {
  type Batch,
  type Cell,
  type ColumnSpec,
  isoTime,
  numericText,
  type Scaled,
} from "../columns/index.js";
import type { AnyRow } from "../typed/index.js";

/** A row of a batch as programs see it: decimals and times are texts, so that no digit is lost. */
export function rowAt(batch: Batch, row: number): AnyRow {
  return Object.fromEntries(batch.schema.map((spec, i) => [spec.name, valueAt(batch.cell(row, i), spec)]));
}

export function rowOfCells(columns: readonly ColumnSpec[], cells: readonly Cell[]): AnyRow {
  return Object.fromEntries(columns.map((spec, i) => [spec.name, valueAt(cells[i] ?? null, spec)]));
}

function valueAt(cell: Cell, { type, scale }: ColumnSpec): unknown {
  if (cell === null) return null;
  switch (type) {
    case "numeric":
      return numericText(cell as Scaled, scale)
        .replace(/(\.\d*?)0+$/, "$1")
        .replace(/\.$/, "");
    case "timestamp":
      return isoTime(Number(cell));
    case "float":
      return Number.isFinite(cell) ? cell : String(cell);
    case "json":
      return JSON.parse(String(cell)) as unknown;
    default:
      return cell;
  }
}
