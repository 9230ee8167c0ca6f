/**
 * The types that a column of a stream can have. Each has one form in memory (`column.ts`) and one on the wire
 * (`encode.ts`):
 *
 * - `int` is PostgreSQL's bigint within ±2^53: a double holds these integers exactly, and what lies beyond is refused.
 * - `float` is a double.
 * - `timestamp` is a double of milliseconds since 1970 in UTC; microseconds are its fraction.
 * - `numeric` is an integer times 10^-`scale`, in a double within ±2^53 and a BigInt beyond.
 * - `json` is the text of a JSON value.
 */
export type ColumnType = "int" | "float" | "bool" | "text" | "timestamp" | "numeric" | "json";

export interface ColumnSpec {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** The digits after the point of a `numeric` column; 0 for every other type. */
  readonly scale: number;
}

export type Schema = readonly ColumnSpec[];

/** A column that is nullable unless told otherwise. */
export function column(name: string, type: ColumnType, nullable = true, scale = 0): ColumnSpec {
  return { name, type, nullable, scale };
}

/** What a cell holds: a number for int, float and timestamp, a scaled integer for numeric, a string for text and json. */
export type Cell = null | boolean | number | bigint | string;
