/**
 * What a program runs on: the clock and the scheduler (`Ports`), the limits of its queues, how long it waits for
 * hosts and events, and whether a supervisor starts its process again. Tests and the simulator replace `Ports`, and
 * nothing else does.
 */

export { apart, textOf } from "./apart.js";
export { goingOn } from "./clock.js";
export type { HostId } from "./host-id.js";
export { DEFAULT_LIMITS, HOSTS_MAX, type Limits } from "./limits.js";
export { type Patience, patienceOf } from "./patience.js";
export { memoryPorts, type Ports } from "./ports.js";
export { isSupervised, SUPERVISED, tellSupervisor } from "./supervised.js";
