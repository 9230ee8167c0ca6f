import "../state/tracked-fields.js"; // makes what `tracked` and `owned` declare

export type {
  FollowOptions,
  PushOptions,
  QueryOptions,
  Quotas,
  StreamOptions,
  StreamsOptions,
  TenantStreams,
  TokenScope,
  ViewRange,
} from "./service/index.js";
export { openStreams, StreamService } from "./service/index.js";
export type { Columns, NumberedRow, PushAnswer, RowOf, RowToPush, StreamId } from "./typed/index.js";
