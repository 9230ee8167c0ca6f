/**
 * Performance in virtual time: how fast so many hosts would be (`simulateScale`), and what a policy would do under a
 * recorded load (`tryPolicy`). Events cost what they are said to cost; their order is the core's.
 */

export type { Costs } from "./in-time.js";
export { type Scale, type ScaleOptions, simulateScale } from "./scale.js";
export { fixed, type Sample, type Trial, type TrialOptions, tryPolicy } from "./trial.js";
