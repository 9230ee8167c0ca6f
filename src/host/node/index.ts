/**
 * One logical node (`LogicalNode`) and the program that they make up (`Program`): from a request to its core, to the
 * journal, to callers and clients; timers, outside calls, recovery after a crash, which failures are reported.
 */

export type { LogicalNode } from "./node.js";
export { type ParkedEvents, parkedEvents } from "./parked-events.js";
export { type Asker, Program } from "./program.js";
