/** The fluxional language of the paper: printed, read back, and run on one event loop as the reference. */

export { withDispatcher } from "./dispatch.js";
export type { Fluxion, FluxionStream } from "./fluxion.js";
export { type InterpretOptions, interpret } from "./interpret.js";
export { parse } from "./parse.js";
export { fluxionsOf, print } from "./print.js";
