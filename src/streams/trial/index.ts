/**
 * Tries to prove the coordination of standing queries wrong: random graphs of queries over random rows of several producers, whose
 * batches are interleaved, cut and repeated at will. `trial.ts` compares runs, `generate.ts` makes graphs, `deliver.ts` runs them.
 */
export { type Difference, tryStreams } from "./trial.js";
