/**
 * Which hosts a program has: which live and which are lost (`HostSet`), how they are started (`Launcher`), looked at and changed by its owner
 * (`Fleet`), and which contexts belong on which of them (placement rules, addresses).
 */

export { Addressed, type Roots } from "./addressed.js";
export {
  type ContextInfo,
  Fleet,
  type HostInfo,
  type HostLoad,
  type HostPool,
  type HostState,
  type HostStatus,
  type NamedContext,
  type ProgramHosts,
} from "./fleet.js";
export type { HostSet } from "./host-set.js";
export { checkedRules, type PlacementRules, placementFor } from "./placement-rules.js";
export { startHosts } from "./start-hosts.js";
