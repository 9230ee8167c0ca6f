import { CLASSES, PURE_GLOBALS, PURE_NAMESPACES, TIMERS } from "./builtins.js";

/** Every global name of which something is known. */
export const ALL_GLOBALS: ReadonlySet<string> = new Set([
  ...PURE_GLOBALS,
  ...PURE_NAMESPACES,
  ...[...CLASSES].filter((name) => !name.includes(".")),
  ...[...TIMERS].filter((name) => !name.includes(".")),
  ..."Promise Reflect process clearTimeout clearInterval clearImmediate fetch AbortController".split(" "),
]);
