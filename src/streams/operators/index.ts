/**
 * The parts of a running query, one operator a file.
 */
export { type Query, startQuery } from "./query.js";
export {
  type StandingConsumer,
  type StandingOptions,
  type StandingQuery,
  standingQuery,
} from "./standing.js";
