/**
 * The simulator, for those who test Headwater itself. Start at `runCampaign`; `simulate` runs one scenario and
 * `scenarioOf` makes one from a seed.
 */
export { CRASH_MARKS, HOST_MARKS, MARKS, type Mark } from "../core/marks.js";
export { CRASH_PLANTS, PLANTS, type Plant } from "../core/plants.js";
export { type Campaign, type CampaignOptions, runCampaign } from "./campaign.js";
export { type Scenario, type SeedRun, scenarioOf, shrinkScenario, simulate } from "./simulate.js";
