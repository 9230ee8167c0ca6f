/**
 * What lets the events of a logical node run: its core with its turns (`Scheduler`), and the `Runner` that carries
 * events out when the core lets them. Here is the one for this thread (`LocalRunner`); the one for hosts is
 * `src/host/head/remote.ts`. A runner knows its scheduler, and nothing of the logical node that has both.
 */

export { type Admitted, admitted, ContextsBelow } from "./contexts-below.js";
export { LocalRunner } from "./local-runner.js";
export { hasTooManyMoves } from "./refusals.js";
export type { Runner, Runners } from "./runner.js";
export { type Around, Scheduler, type SchedulerOptions } from "./scheduler.js";
