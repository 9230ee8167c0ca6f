/**
 * Which coordination a graph of standing queries needs, and which it gets. `examine` turns streams and queries into a
 * dataflow of the analysis and labels it; `explain.ts` says the outcome to people. Pure functions of definitions: what
 * carries the coordination out is the graph.
 */
export { type CoordinationChoice, type Examination, type ExaminedQuery, examine } from "./examine.js";
export { explain } from "./explain.js";
export type { QueryFacts, StreamFacts } from "./facts.js";
