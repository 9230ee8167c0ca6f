/**
 * What should have happened: the sequential runner, the log that a run leaves behind (`RunLog`), and their
 * comparison. It imports nothing of the runtime that it judges.
 */

export { compare, type Difference } from "./compare.js";
export {
  failureOf,
  type LaterEffect,
  type LoggedEvent,
  type Origin,
  type Result,
  type RunLog,
  type Told,
} from "./log.js";
