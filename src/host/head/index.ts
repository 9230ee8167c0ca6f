/**
 * The head's side of events that run on hosts: sending them, letting their calls go ahead, views of contexts on
 * other hosts, migration of contexts (`moves`, `copies`), eviction from hosts (`residents`), and finding the event
 * that ends its hosts (`Quarantine`). `Remote` is the head of one logical node; `Hosts` is what it needs of the set
 * of hosts.
 */

export type { Hosts } from "./hosts.js";
export { type Move, type Moving, moveRequest } from "./moving.js";
export { Quarantine } from "./quarantine.js";
export { Remote, type RemoteCall } from "./remote.js";
export type { Some } from "./slow-events.js";
export { letIn } from "./whole.js";
