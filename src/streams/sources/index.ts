/**
 * Rows that the service fetches or takes by itself: from NATS, from JetStream, from a TCP port. A source reads messages of NDJSON and
 * hands them on with a position; what takes them keeps rows and position in one event (`Intake`).
 */

export { checkedSource, type SourceDefinition, type SourceOptions, type SourcePolicy } from "./definition.js";
export { type Intake, openSource, type RunningSource, type SourceMessage } from "./source.js";
