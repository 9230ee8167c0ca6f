import type { SqlType } from "../../sql/index.js";
import type { ColumnSpec, ColumnType } from "../columns/index.js";
import type { Expression, Type, ValueType } from "../plan/index.js";

/** What PostgreSQL's types are to the engine. A date is its midnight in UTC, and so is every time. */
const TYPES: Readonly<Partial<Record<SqlType, ValueType>>> = {
  bool: "bool",
  ...{ int2: "int", int4: "int", int8: "int" },
  float8: "float",
  numeric: "numeric",
  ...{ text: "text", uuid: "text" },
  ...{ date: "timestamp", timestamp: "timestamp", timestamptz: "timestamp" },
  interval: "interval",
  ...{ json: "json", jsonb: "json" },
};

/** `null` for a type that the engine has no columns for. */
export function valueType(type: SqlType): ValueType | null {
  return TYPES[type] ?? null;
}

/** What the types of the engine's columns are called in SQL. */
export const SQL_TYPES: Readonly<Record<ColumnType, SqlType>> = {
  int: "int8",
  float: "float8",
  bool: "bool",
  text: "text",
  timestamp: "timestamp",
  numeric: "numeric",
  json: "jsonb",
};

/** The digits behind the point of a decimal whose number of digits only its value decides: quotients, averages, casts. */
export const OPEN_SCALE = 16;

/** The greatest number of digits behind the point among some values. */
export function widestScale(types: readonly Pick<Type, "scale">[]): number {
  return Math.max(0, ...types.map(({ scale }) => scale));
}

/** A column of an input as an expression. */
export function columnAt({ type, nullable, scale }: ColumnSpec, index: number): Expression {
  return { kind: "column", index, type, nullable, scale };
}
