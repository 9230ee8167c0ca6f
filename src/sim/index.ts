/**
 * The simulator, for testing Headwater itself. Start at `runCampaign`; `simulate` runs one scenario and
 * `scenarioOf` makes one from a seed. In virtual time, `tryPolicy` tries elasticity policies, and `simulateScale` says how
 * fast so many hosts would be.
 */
/// <reference types="node" preserve="true" />
export { CRASH_MARKS, HOST_MARKS, MARKS, type Mark } from "../core/marks.js";
export { CRASH_PLANTS, EVICTION_PLANTS, MIGRATION_PLANTS, PLANTS, type Plant } from "../core/plants.js";
export type { Costs } from "../elastic/trial/index.js";
export {
  fixed,
  type Sample,
  type Scale,
  type ScaleOptions,
  simulateScale,
  type Trial,
  type TrialOptions,
  tryPolicy,
} from "../elastic/trial/index.js";
export { type Campaign, type CampaignOptions, runCampaign } from "./campaign.js";
export { type Scenario, type SeedRun, scenarioOf, shrinkScenario, simulate } from "./simulate.js";
