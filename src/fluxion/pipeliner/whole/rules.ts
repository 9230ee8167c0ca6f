import type { Hazard } from "../../points-to/index.js";
import type { WholeProgram } from "./whole.js";

/** The rules that keep a stage on the main loop. Tests leave one out, to show that it would be missed. */
export const RULES = [
  "state",
  "unknown code",
  "given objects",
  "effects in order",
  "same objects",
  "requests as they come",
  "promises awaited",
  "promises left alone",
  "functions called alone",
  "parts of one request",
  "uses around a continuation",
  "uses around an await",
  "uses around next",
  "begun before",
  "begun by a middleware",
  "after next",
  "results",
  "after a cut",
] as const;

export type IsolationRule = (typeof RULES)[number];

/** What a rule says, unless it is left out. */
export function heeded(
  whole: WholeProgram,
  rule: IsolationRule,
  find: () => readonly Hazard[],
): readonly Hazard[] {
  return whole.without.has(rule) ? [] : find();
}

const OF_CODE: Partial<Record<Hazard["code"], IsolationRule>> = {
  "HW-7002": "state",
  "HW-7003": "state",
  "HW-7004": "unknown code",
  "HW-7005": "given objects",
};

/** The same for facts of several rules, which are told apart by what they say. */
export function heededFacts({ without }: WholeProgram, facts: Iterable<Hazard>): Hazard[] {
  return [...facts].filter(({ code }) => {
    const rule = OF_CODE[code];
    return rule === undefined || !without.has(rule);
  });
}
