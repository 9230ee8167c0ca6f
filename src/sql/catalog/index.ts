/** What PostgreSQL's operators, functions and aggregates take and give, as tables: a new one is a line in one of them. */

import { BUILTIN_SIGNATURES, userSignatures } from "../builtins/index.js";
import { AGGREGATES } from "./aggregates.js";
import { ARITHMETIC } from "./arithmetic.js";
import { COMPARISON } from "./comparison.js";
import type { Signature } from "./signature.js";
import { TEXT } from "./text.js";
import { TIME } from "./time.js";

const BY_NAME = grouped([...ARITHMETIC, ...COMPARISON, ...TEXT, ...TIME, ...BUILTIN_SIGNATURES]);
const AGGREGATES_BY_NAME = grouped(AGGREGATES);

function grouped(signatures: readonly Signature[]): ReadonlyMap<string, readonly Signature[]> {
  const groups = new Map<string, Signature[]>();
  for (const each of signatures) groups.set(each.name, [...(groups.get(each.name) ?? []), each]);
  return groups;
}

/** The signatures of an operator or a function. */
export function signaturesOf(name: string): readonly Signature[] {
  return BY_NAME.get(name) ?? userSignatures(name);
}

export function aggregateSignatures(name: string): readonly Signature[] {
  return AGGREGATES_BY_NAME.get(name) ?? [];
}

export const FUNCTION_NAMES: readonly string[] = [...BY_NAME.keys()].filter(
  (name) => /^[a-z]/.test(name) && !["negate", "like", "ilike"].includes(name),
);
