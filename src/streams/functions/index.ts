/**
 * Functions and aggregates that programs declare for their queries, with the types of TypeScript from those of SQL.
 */
export { type AggregateParts, aggregate, type FunctionTypes, fn } from "./functions.js";
export { functionsUrl, loadFunctions } from "./load.js";
export type { OperandWord, ResultWord } from "./words.js";
