/**
 * Whether labels are true: components really run, alone and as the dataflow that they are part of, and what comes out is
 * compared. Start at `check`.
 */

export { type CheckOptions, type CheckResult, check, type Predicted } from "./check.js";
export { type DataRecord, type Reaction, type RunnableComponent, runnableComponent } from "./component.js";
export type { Bulk } from "./inputs.js";
export type { Act } from "./instance.js";
export type { PathViolation } from "./paths.js";
export type { Anomaly, DifferingSide, Evidence } from "./search.js";
export { checkToJson, showCheck } from "./show.js";
export { sqlComponent } from "./sql-component.js";
