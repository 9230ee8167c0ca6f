/** The code of a compiled program: the main loop's files with their stages cut out, and the modules that workers load. */

export { type LinkOptions, link } from "./link.js";
export { type Written, withMap, writeProgram } from "./write.js";
