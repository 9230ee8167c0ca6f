import type { Cell } from "../columns/index.js";

/** Cells as one text: equal cells give equal texts, different ones different texts. */
export function cellsText(cells: readonly Cell[]): string {
  let text = "";
  for (const cell of cells) text += cellText(cell);
  return text;
}

function cellText(cell: Cell): string {
  switch (typeof cell) {
    case "string":
      return `s${cell.length}:${cell}`;
    case "number":
      return `n${cell};`;
    case "bigint":
      return `i${cell};`;
    case "boolean":
      return cell ? "t" : "f";
    default:
      return "_";
  }
}

/** The order of keys: NULL last, NaN behind all numbers, texts by their code units. */
export function compareCells(a: Cell, b: Cell): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
