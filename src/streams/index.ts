/// <reference types="node" preserve="true" />
import "../state/tracked-fields.js"; // makes what `tracked` and `owned` declare

export {
  type AggregateParts,
  aggregate,
  type FunctionTypes,
  fn,
  type OperandWord,
  type ResultWord,
} from "./functions/index.js";
export type {
  FollowOptions,
  PushOptions,
  QueryOptions,
  Quotas,
  StreamSettings,
  StreamsOptions,
  TenantStreams,
  TokenScope,
  ViewRange,
} from "./service/index.js";
export { openStreams, StreamService } from "./service/index.js";
export type {
  NumberedRow,
  PushReceipt,
  RowToPush,
  StreamColumns,
  StreamId,
  StreamRow,
} from "./typed/index.js";
