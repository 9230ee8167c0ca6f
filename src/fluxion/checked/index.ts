/**
 * Checked speculation: stages that call packages of which nothing is known run in threads that watch what the packages do.
 */

export { factsOfHost, type HostFacts } from "./facts.js";
export { type EarlierCall, WatchedStages } from "./stages.js";
