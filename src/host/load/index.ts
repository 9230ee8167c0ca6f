/**
 * What is measured of hosts and contexts, and what is done about it: the policy's decisions are made in `elastic`
 * and carried out here. Hosts measure themselves: `main` loads `gauge` and `context-loads` by their names, and
 * nothing of policies.
 */

export type { ContextSample } from "./context-loads.js";
export { LoadRecorder } from "./load-recorder.js";
export type { MeasuredHosts } from "./meter.js";
export { watchHosts } from "./watch.js";
