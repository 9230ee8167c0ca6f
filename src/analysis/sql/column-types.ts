import type { AttributeType } from "../graph.js";
import type { ColumnFacts } from "./value.js";

/** What PostgreSQL's types are to the analysis, by all the names that people use. */
const TYPES: Readonly<Record<string, AttributeType>> = {
  ...named(
    "number",
    "int int2 int4 int8 smallint integer bigint float float4 float8 real double numeric decimal number",
  ),
  ...named("time", "timestamp date"),
  ...named("instant", "timestamptz"),
  ...named("text", "text varchar bpchar char string uuid"),
  ...named("boolean", "bool boolean"),
};

function named(type: AttributeType, names: string): Record<string, AttributeType> {
  return Object.fromEntries(names.split(" ").map((name) => [name, type]));
}

export const TYPE_NAMES: readonly string[] = Object.keys(TYPES);

export function columnType(name: string): AttributeType | null {
  return Object.hasOwn(TYPES, name) ? (TYPES[name] ?? null) : null;
}

/** Times of day and instants are both ordered, but not alike: when clocks are set back, an earlier time is a later instant. */
const ORDERED: readonly AttributeType[] = ["number", "time", "instant"];

/** A value that is cast keeps its place among the others if both types have one order: '10' is less than '9', and 10 is not. */
export function castKeepsOrder(from: AttributeType | null, to: string): boolean {
  return from !== null && ORDERED.includes(from) && columnType(to) === from;
}

/** The type that all of these values have. */
export function commonType(values: readonly ColumnFacts[]): AttributeType | null {
  const [first] = values;
  return first !== undefined && values.every(({ type }) => type === first.type) ? first.type : null;
}
