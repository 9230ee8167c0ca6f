import { categoryOf, isPreferred, type OpenType } from "../types.js";
import { castsImplicitly } from "./casts.js";
import type { Signature } from "./signature.js";

/**
 * Which of several signatures a call means, by PostgreSQL's rules (its manual, sections 10.2 and 10.3): the signature that fits
 * exactly; or else, of those to whose types the operands are converted without being asked, the one with the most exact
 * types, then the one with the most preferred types, then the signature that literals suggest. `null`: none, or not only one.
 */
export function choose(candidates: readonly Signature[], operands: readonly OpenType[]): Signature | null {
  const exact = candidates.find((each) => fits(each, operands, (from, to) => from === to));
  if (exact !== undefined) return exact;
  const alike = asTheOther(candidates, operands);
  if (alike !== null) return alike;
  let left = candidates.filter((each) => fits(each, operands, castsImplicitly));
  left = most(left, (each) => count(each, operands, (from, to) => from === to));
  left = most(left, (each) => count(each, operands, (from, to) => from === to || isPreferredOf(from, to)));
  if (left.length > 1) left = byLiterals(left, operands);
  return left.length === 1 ? (left[0] ?? null) : null;
}

type Test = (from: OpenType, to: OpenType) => boolean;

function fits({ operands: wanted }: Signature, operands: readonly OpenType[], test: Test): boolean {
  return wanted.length === operands.length && wanted.every((to, i) => test(operands[i] ?? to, to));
}

function count({ operands: wanted }: Signature, operands: readonly OpenType[], test: Test): number {
  return wanted.filter((to, i) => test(operands[i] ?? to, to)).length;
}

/** What a literal is to be is not decided by this. */
function isPreferredOf(from: OpenType, to: OpenType): boolean {
  return from !== "unknown" && isPreferred(to) && categoryOf(from) === categoryOf(to);
}

function most(candidates: readonly Signature[], rank: (candidate: Signature) => number): Signature[] {
  const best = Math.max(...candidates.map(rank));
  return candidates.filter((each) => rank(each) === best);
}

/** A literal beside one other operand is first tried as one of the same type. */
function asTheOther(candidates: readonly Signature[], operands: readonly OpenType[]): Signature | null {
  const known = operands.filter((each) => each !== "unknown");
  const [only] = known;
  if (operands.length !== 2 || known.length !== 1 || only === undefined) return null;
  return candidates.find((each) => fits(each, [only, only], (from, to) => from === to)) ?? null;
}

/** Literals are texts if a candidate takes a text there, and of the one category that all candidates take otherwise. */
function byLiterals(candidates: readonly Signature[], operands: readonly OpenType[]): Signature[] {
  let left = [...candidates];
  for (const [i, operand] of operands.entries()) {
    if (operand !== "unknown") continue;
    const taken = (each: Signature) => each.operands[i] ?? "unknown";
    const texts = left.filter((each) => categoryOf(taken(each)) === "text");
    if (texts.length > 0) left = texts;
    else if (new Set(left.map((each) => categoryOf(taken(each)))).size > 1) return left;
    const preferred = left.filter((each) => isPreferred(taken(each)));
    if (preferred.length > 0) left = preferred;
  }
  if (left.length < 2) return left;
  const known = new Set(operands.filter((each) => each !== "unknown"));
  const [only] = known;
  if (known.size !== 1 || only === undefined) return left;
  return left.filter((each) =>
    fits(
      each,
      operands.map(() => only),
      castsImplicitly,
    ),
  );
}
