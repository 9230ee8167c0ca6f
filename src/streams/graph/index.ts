/**
 * A graph of streams and standing queries as a pure state machine: commands go in as records, answers and numbered results
 * come out. It has no clock, no network and no journal; `service` keeps it as the owned state of a context.
 */
export { isRefused, type PushAnswer } from "./answers.js";
export type { Channel } from "./channel.js";
export { type Command, encodeCommand, type Push, stamp } from "./command.js";
export {
  type ChosenCoordination,
  DEFAULT_RETENTION,
  definitionOf,
  definitionText,
  type ImportOrigin,
  type QueryDefinition,
  type Retention,
  type StreamDefinition,
} from "./definition.js";
export { fairLevel } from "./fair-level.js";
export { type Applied, type Carried, type CommandOutcome, GraphEngine } from "./graph-engine.js";
export { keySchema, keysIn, type PartitionHold, type PartitionStatus } from "./hold.js";
export { PartitionEngine } from "./partition-engine.js";
export { redefined, whyNotRedefined } from "./redefine.js";
export { type SnapshotTable, snapshot } from "./snapshot.js";
