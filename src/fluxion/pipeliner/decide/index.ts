/** **What may run elsewhere?** Goes through parts and calls, asks for hazards and slices, and gives a plan or the reasons. */

export { decide } from "./decide.js";
export { type CallPlan, diagnosticOf, type Input, type PartPlan, type StagePlan } from "./plan.js";
