/**
 * Which hosts a program has: started, watched, lost and replaced (`LocalHosts`), looked at and changed by its owner
 * (`Fleet`), and which contexts belong on which of them (placement rules, addresses).
 */

export type { Roots } from "./addressed.js";
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
export { LocalHosts } from "./local-hosts.js";
export { checkedRules, type PlacementRules, placementFor } from "./placement-rules.js";
