/**
 * What is known of a program as a whole, before single parts are asked about: listeners and their roles, what is changed
 * after files were loaded, which code a body reaches, what a file exports. It decides nothing.
 */

export { changeOf, escapedIn, heldBy } from "./changes.js";
export { type Container, containerOf, isAsyncFunction } from "./container.js";
export { exportsOf, isUnclear } from "./exports.js";
export { keyOfLibrary, keyOfThing } from "./keys.js";
export { reached } from "./reach.js";
export { isRepeated } from "./repeated.js";
export { heeded, heededFacts } from "./rules.js";
export {
  calledBySelf,
  engineFor,
  type Listener,
  type LookingOptions,
  lookAtWhole,
  roleOf,
  type WholeProgram,
} from "./whole.js";
