import { invariant } from "../../errors.js";
import type { Scaled } from "./numeric.js";
import type { Cell, ColumnSpec } from "./schema.js";
import { Texts } from "./texts.js";

/**
 * Columns in memory: typed arrays with room for more rows than are used. A column that can hold NULL has a byte per row
 * beside its values, 1 for NULL; a column that cannot has none, and generated code does not look. The value of a NULL row is
 * 0, so that equal columns have equal arrays.
 */
export interface NumberColumn {
  readonly storage: "number";
  values: Float64Array;
  nulls: Uint8Array | null;
}

export interface BoolColumn {
  readonly storage: "bool";
  values: Uint8Array;
  nulls: Uint8Array | null;
}

export interface TextColumn {
  readonly storage: "text";
  codes: Int32Array;
  texts: Texts;
  nulls: Uint8Array | null;
}

/** A value beyond ±2^53 stands in `bigs` by its row, and NaN in its place among the values. */
export interface NumericColumn {
  readonly storage: "numeric";
  values: Float64Array;
  bigs: Map<number, bigint>;
  nulls: Uint8Array | null;
}

export type Column = NumberColumn | BoolColumn | TextColumn | NumericColumn;

/** `texts` are shared with another column, or the bytes that slices are taken of. */
export function emptyColumn(
  { type, nullable }: ColumnSpec,
  capacity: number,
  texts: Texts | Buffer | null = null,
): Column {
  const nulls = nullable ? new Uint8Array(capacity) : null;
  switch (type) {
    case "int":
    case "float":
    case "timestamp":
      return { storage: "number", values: new Float64Array(capacity), nulls };
    case "bool":
      return { storage: "bool", values: new Uint8Array(capacity), nulls };
    case "text":
    case "json":
      return {
        ...{ storage: "text", codes: new Int32Array(capacity), nulls },
        texts: texts instanceof Texts ? texts : new Texts(texts),
      };
    case "numeric":
      return { storage: "numeric", values: new Float64Array(capacity), bigs: new Map(), nulls };
  }
}

export function capacityOf(column: Column): number {
  return column.storage === "text" ? column.codes.length : column.values.length;
}

/** Makes room for `capacity` rows. The arrays are other ones afterwards. */
export function grow(column: Column, capacity: number): void {
  if (column.nulls !== null) column.nulls = widened(column.nulls, new Uint8Array(capacity));
  if (column.storage === "text") column.codes = widened(column.codes, new Int32Array(capacity));
  else if (column.storage === "bool") column.values = widened(column.values, new Uint8Array(capacity));
  else column.values = widened(column.values, new Float64Array(capacity));
}

export function widened<A extends Uint8Array | Int32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

export function cellAt(column: Column, row: number): Cell {
  if (column.nulls !== null && column.nulls[row] === 1) return null;
  switch (column.storage) {
    case "number":
      return column.values[row] as number;
    case "bool":
      return column.values[row] === 1;
    case "text":
      return column.texts.get(column.codes[row] as number);
    case "numeric":
      return column.bigs.get(row) ?? (column.values[row] as number);
  }
}

/** Writes a cell whose row has room. Which cells a type can hold was checked where they came from. */
export function setCell(column: Column, row: number, cell: Cell): void {
  if (column.nulls !== null) column.nulls[row] = cell === null ? 1 : 0;
  else invariant(cell !== null, "a column that cannot hold NULL is given one");
  switch (column.storage) {
    case "number":
      column.values[row] = cell === null ? 0 : Number(cell);
      return;
    case "bool":
      column.values[row] = cell === true ? 1 : 0;
      return;
    case "text":
      column.codes[row] = cell === null ? 0 : column.texts.add(String(cell));
      return;
    case "numeric":
      setNumeric(column, row, cell === null ? 0 : (cell as Scaled));
  }
}

export function setNumeric(column: NumericColumn, row: number, value: Scaled): void {
  if (column.bigs.size > 0) column.bigs.delete(row);
  if (typeof value === "bigint") column.bigs.set(row, value);
  column.values[row] = typeof value === "bigint" ? Number.NaN : value + 0; // among integers there is no negative zero
}
