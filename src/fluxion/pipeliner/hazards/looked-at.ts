import type { Body, Hazard } from "../../points-to/index.js";
import type { WholeProgram } from "../whole/index.js";

/** A function that goes elsewhere is written differently, and may have one more parameter. */
export function lookedAtFacts({ engine }: WholeProgram, node: Body): Hazard[] {
  if (!engine.lookedAt.has(node)) return [];
  const reason = "the program reads its text or how many parameters it has, which are others then";
  const advice = "give its length or text a name in the program";
  return [{ code: "HW-7013", node, module: engine.moduleOf(node), reason, advice }];
}
