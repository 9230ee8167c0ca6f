/** **What may run elsewhere?** Goes through parts and calls, asks for hazards and slices, and gives a plan or the reasons. */

export { decide } from "./decide.js";
export { asExpression } from "./method.js";
export {
  type CallPlan,
  diagnosticOf,
  homeOf,
  type PartPlan,
  type StageInput,
  type StagePlan,
} from "./plan.js";
export { watchedPlans } from "./watched.js";
