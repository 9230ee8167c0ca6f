/**
 * The head's side of events that run on hosts: sending them, letting their calls go ahead, views of contexts on
 * other hosts, migration of contexts (`migrations.ts`), eviction from hosts (`residents.ts`), and finding the event
 * that ends its hosts (`Quarantine`). `Remote` is the head of one logical node, `Heads` are those of a program;
 * `Hosts` is what they need of the set of hosts.
 */

export { type Culprit, OTHER, UNKNOWN } from "./culprit.js";
export { Heads } from "./heads.js";
export type { Hosts } from "./hosts.js";
export type { Migration } from "./migration.js";
export { Quarantine } from "./quarantine.js";
export type { Some } from "./slow-events.js";
