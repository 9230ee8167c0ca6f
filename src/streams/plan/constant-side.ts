import { mapInputs } from "./cut.js";
import type { Plan } from "./physical.js";
import { type EmitMode, type Inputs, traitsOf } from "./traits.js";

/**
 * A join with rows that are constants, such as `CROSS JOIN (VALUES (1), (2)) AS v`: they are there before all other rows and never
 * change, so a row of a stream has met all that it ever meets when it has come, and need not be kept.
 */
export function withConstantSides(plan: Plan, inputs: Inputs, mode: EmitMode): Plan {
  const made = mapInputs(plan, (input) => withConstantSides(input, inputs, mode));
  if (made.kind !== "join" || made.isTemporal || !isConstant(made.right)) return made;
  if (made.join !== "inner" && made.join !== "left") return made;
  return traitsOf(made.left, inputs, mode).isAppendOnly ? { ...made, isTemporal: true } : made;
}

function isConstant(plan: Plan): boolean {
  if (plan.kind === "unit") return true;
  if (plan.kind === "step") return isConstant(plan.input);
  return plan.kind === "union" && plan.inputs.every(isConstant);
}
