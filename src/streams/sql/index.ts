/**
 * From the text of a query to a plan that runs: the parser and the names are those of the analysis, types and conversions are
 * added here.
 */

export { type Defined, planDefinition, planDefinitionSync } from "./plan-definition.js";
export { describeQuery, planBound, planQuery, type QueryShape } from "./plan-query.js";
export { stateLimitOf, withLimitedState } from "./state-limit.js";
export { OPEN_SCALE } from "./types.js";
export type { Versions } from "./version-join.js";
