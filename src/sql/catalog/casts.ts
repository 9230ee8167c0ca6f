import { elementOf, type OpenType, type ScalarType, type SqlType } from "../types.js";

/** What PostgreSQL converts without being asked. */
const IMPLICIT: Readonly<Partial<Record<ScalarType, readonly ScalarType[]>>> = {
  int2: ["int4", "int8", "numeric", "float4", "float8"],
  int4: ["int8", "numeric", "float4", "float8"],
  int8: ["numeric", "float4", "float8"],
  numeric: ["float4", "float8"],
  float4: ["float8"],
  date: ["timestamp", "timestamptz"],
  timestamp: ["timestamptz"],
};

const NUMBERS: readonly ScalarType[] = ["int2", "int4", "int8", "numeric", "float4", "float8"];
const TIMES: readonly ScalarType[] = ["date", "timestamp", "timestamptz"];

/** What it converts when told to, besides to and from text, which is possible for all types. */
const EXPLICIT: readonly (readonly [from: readonly ScalarType[], to: readonly ScalarType[]])[] = [
  [NUMBERS, NUMBERS],
  [TIMES, TIMES],
  [["bool"], ["int4"]],
  [["int4"], ["bool"]],
  [
    ["json", "jsonb"],
    ["json", "jsonb"],
  ],
  [["jsonb"], [...NUMBERS, "bool"]],
];

export function castsImplicitly(from: OpenType, to: OpenType): boolean {
  if (from === to || from === "unknown" || from === "untyped" || to === "untyped") return true;
  return IMPLICIT[from as ScalarType]?.includes(to as ScalarType) === true;
}

export function castsExplicitly(from: OpenType, to: SqlType): boolean {
  if (castsImplicitly(from, to) || from === "text" || to === "text") return true;
  const [one, other] = [elementOf(from), elementOf(to)];
  if (one !== null && other !== null) return castsExplicitly(one, other);
  return EXPLICIT.some(
    ([sources, targets]) => sources.includes(from as ScalarType) && targets.includes(to as ScalarType),
  );
}
