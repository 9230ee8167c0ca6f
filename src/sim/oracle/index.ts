/**
 * What should have happened: the sequential runner, the log that a run leaves behind (`RunLog`), and their
 * comparison. It imports nothing of the runtime that it judges.
 */

export { compare, type Difference } from "./compare.js";
export {
  failureOf,
  type HeardMessage,
  type LaterEffect,
  type LoggedEvent,
  type LoggedOrigin,
  type LoggedResult,
  type RunLog,
} from "./log.js";
