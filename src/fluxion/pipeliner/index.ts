/**
 * From what is known of values to what may run elsewhere, and to the paper's pipeline. Five rooms, each of which knows those
 * above it only: `whole` (the program), `hazards` and `slice` (what speaks against a stage, what it needs), `decide` (what
 * goes), `partition` (what is shown).
 */

export {
  asExpression,
  type CallPlan,
  decide,
  diagnosticOf,
  homeOf,
  type PartPlan,
  type StageInput,
  type StagePlan,
  watchedPlans,
} from "./decide/index.js";
export { assemble, nameOf, namesOf, routesOf } from "./partition/index.js";
export { addSlice, emptySlice, type ModuleSlice } from "./slice/index.js";
export { exportsOf, type LookingOptions, lookAtWhole, type WholeProgram } from "./whole/index.js";
