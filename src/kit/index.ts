/**
 * The test kit, `headwater/test`: runs a program of the user in the simulator. `simulate` is the door; `run-once.ts` is one run,
 * `copies.ts` gives each simulated host its own copy of the program, `globals.ts` stands in for the machine, `network.ts` for
 * what is outside, and `shrink.ts` makes a failing schedule small. The world itself is that of `src/sim/world`.
 */
/// <reference types="node" preserve="true" />

export type { ActingCaller, Choices, KitOptions, ModelCall, OutsideFakes, States } from "./options.js";
export { type Simulated, simulate } from "./simulate.js";
