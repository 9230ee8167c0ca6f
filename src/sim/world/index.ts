/**
 * A world in which a seed decides what happens next: it stands in for the clock, the disk, the hosts and the clients
 * of a real program, and records what that does.
 */

export { Poison } from "./poison.js";
export { World } from "./world.js";
export type { FinalContext, Visitors, WorldRun } from "./world-run.js";
