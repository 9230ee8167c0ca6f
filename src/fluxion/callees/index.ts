/** What is known of the language, of Node, of Express and of libraries, as data; `Knowledge` adds what a project says. */

export {
  ANY_ZONE,
  CHANGING,
  CLASSES,
  COPYING,
  DESCRIBING,
  ITERATING,
  LAST_MATCH,
  LOCAL_TIME,
  MAPPING,
  MATCHING,
  MUTATING,
  OF_MEMORY,
  OF_PAIRS,
  PASSING,
  PICKING,
  PROCESS_CONSTANTS,
  PURE_GLOBALS,
  PURE_NAMESPACES,
  SAME,
  TELLING,
  TIMERS,
  VALUES,
  VARYING,
  VIEWS,
} from "./builtins.js";
export { ALL_GLOBALS } from "./globals.js";
export { Knowledge, type ProjectKnowledge, packageOf } from "./knowledge.js";
export { ALIASES } from "./libraries.js";
export { onlyReads } from "./templates.js";
export {
  CONSOLE_CALLS,
  HANDLER_ROLES,
  REQUEST_BOUND,
  REQUEST_CONTAINERS,
  REQUEST_QUESTIONS,
  REQUEST_VALUES,
  RESPONSE_AT_ONCE,
  RESPONSE_CHAINING,
  RESPONSE_CHANGING,
  RESPONSE_ENDING,
  RESPONSE_QUESTIONS,
  RESPONSE_READS,
  RESPONSE_WRITES,
} from "./web.js";
