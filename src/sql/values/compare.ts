import type { Scalar } from "../ast.js";
import { elementOf, type SqlType } from "../types.js";
import { compareNumeric, numericKey } from "./numeric.js";

type Known = Exclude<Scalar, null>;

/** The order of two values of a type. Texts stand in the order of their code points, as with PostgreSQL's collation "C". */
export function compareValues(a: Known, b: Known, type: SqlType): number {
  if (type === "numeric" && typeof a === "string" && typeof b === "string") return compareNumeric(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return compareArrays(a, b, elementOf(type) ?? "untyped");
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  // Numbers before texts before truth values, so that any two values without a type can be compared.
  const rank = (value: Known) => ["number", "string", "boolean"].indexOf(typeof value);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return a === b ? 0 : a < b ? -1 : 1;
}

/** UTF-16 puts what lies beyond its first plane before some of what lies in it. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  const at = (text: string) => {
    const low = text.charCodeAt(i) >= 0xdc00 && text.charCodeAt(i) <= 0xdfff ? 1 : 0;
    return text.codePointAt(i - low) ?? -1;
  };
  return at(a) - at(b);
}

/** Element by element, NULL last; then the shorter one first. */
function compareArrays(a: readonly Scalar[], b: readonly Scalar[], element: SqlType): number {
  for (const [i, x] of a.entries()) {
    if (i >= b.length) return 1;
    const y = b[i] ?? null;
    const order = compareNullable(x, y, element);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** NULL is after everything else. */
export function compareNullable(a: Scalar, b: Scalar, type: SqlType): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compareValues(a, b, type);
}

/** The same text for values that are equal, or both NULL. */
export function keyOf(value: Scalar, type: SqlType): string {
  if (type === "numeric" && typeof value === "string") return numericKey(value);
  return JSON.stringify(value);
}

export function rowKey(row: readonly Scalar[], types: readonly { readonly type: SqlType }[]): string {
  return JSON.stringify(row.map((value, i) => keyOf(value, types[i]?.type ?? "untyped")));
}
