import type { Column } from "./column.js";
import type { Cell } from "./schema.js";

/** By code points: JavaScript compares UTF-16 units, which differs where one side has a character beyond U+FFFF. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return place(x) - place(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for characters behind all others. */
function place(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The order of two values of one type. NaN lies behind all numbers, as in PostgreSQL. */
export function compareCells(x: Exclude<Cell, null>, y: Exclude<Cell, null>): number {
  if (typeof x === "string" && typeof y === "string") return compareText(x, y);
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The order of two rows by one column, NULL behind all values. */
export function compareRows(column: Column, a: number, b: number): number {
  const { nulls } = column;
  if (nulls !== null && (nulls[a] === 1 || nulls[b] === 1))
    return (nulls[a] as number) - (nulls[b] as number);
  switch (column.storage) {
    case "text": {
      const [x, y] = [column.codes[a] as number, column.codes[b] as number];
      return x === y ? 0 : compareText(column.texts.get(x), column.texts.get(y));
    }
    case "numeric":
      return compareCells(
        column.bigs.get(a) ?? (column.values[a] as number),
        column.bigs.get(b) ?? (column.values[b] as number),
      );
    default:
      return compareCells(column.values[a] as number, column.values[b] as number);
  }
}
