/**
 * Which coordination a graph of standing queries needs, and which it gets. `decide` is asked at every registration: it turns
 * streams and queries into a dataflow of the analysis (`examine.ts`), labels it, and says how the new query is carried out, or
 * refuses it (`refusal.ts`); `explain.ts` says the outcome to people. Pure functions of definitions: what carries the
 * coordination out is the graph.
 */
export { chosen, type RequestedCoordination, requestOf } from "./choice.js";
export { type Candidate, type CoordinationDecision, decide, decided, sealsOf } from "./decide.js";
export { examine } from "./examine.js";
export { coordinationText, explain } from "./explain.js";
export type { CoordinationChoice, QueryFacts, StreamFacts } from "./facts.js";
