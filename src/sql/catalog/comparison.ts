import type { ScalarType } from "../types.js";
import { type Signature, signatures } from "./signature.js";

/** Two values of one type; values of two types are converted to one of them first. */
const ORDERED: readonly ScalarType[] = [
  "bool",
  "int2",
  "int4",
  "int8",
  "numeric",
  "float4",
  "float8",
  "text",
  "uuid",
  "date",
  "timestamp",
  "timestamptz",
  "interval",
];

export const COMPARISON: readonly Signature[] = [
  ...ORDERED.flatMap((type) => signatures(`= <> < <= > >= : ${type} ${type} -> bool`)),
  ...signatures("= <> : jsonb jsonb -> bool"),
  ...signatures("like ilike : text text -> bool"),
];
