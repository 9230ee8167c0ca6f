/**
 * Generated programs: how they are drawn from a seed, what they do when they run, how a failing one is made smaller
 * and shown. They know contexts as applications do, and no runtime.
 */

export { digest, mix, plain } from "./data.js";
export { extended } from "./extend.js";
export { generateProgram, generateWorkload } from "./generate.js";
export { closeWorld, openWorld } from "./outside.js";
export {
  type BuiltProgram,
  buildClasses,
  type Hooks,
  type ProgramSpec,
  type RequestSpec,
} from "./program.js";
export { show } from "./show.js";
export { shrink } from "./shrink.js";
