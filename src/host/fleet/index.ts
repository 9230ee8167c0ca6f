/**
 * Which hosts a program has: which live and which are lost (`HostSet`), how they are started (`Launcher`), looked at and changed by its owner
 * (`Fleet`), and which contexts belong on which of them (placement rules, addresses).
 */

export { Addressed, type Roots } from "./addressed.js";
export { Fleet, type HostPool, type HostStatus } from "./fleet.js";
export type { HostSet } from "./host-set.js";
export { checkedRules, type PlacementRules, placementFor } from "./placement-rules.js";
export type {
  ContextInfo,
  HostInfo,
  HostLoad,
  HostState,
  NamedContext,
  ProgramHosts,
} from "./program-hosts.js";
export { startHosts } from "./start-hosts.js";
