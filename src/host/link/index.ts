/**
 * How a host is started and reached, as a thread or as a process: a `HostLink` carries bytes and a few words aside.
 * `main` is the other end; it loads `host-link` by its name, and nothing of what starts hosts.
 */

export { openDialed } from "./dialed-link.js";
export { explained } from "./explained-link.js";
export type { Aside, HostLink, HostReport, HostTask, OpenLink, RunningEventId } from "./host-link.js";
export { NotSpawned, spawnDelayMs } from "./not-spawned.js";
export { offerHost } from "./offered-host.js";
export { openProcess } from "./process-link.js";
export { openBackgroundThread, openThread } from "./thread-link.js";
