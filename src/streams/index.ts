/// <reference types="node" preserve="true" />
import "../state/tracked-fields.js"; // makes what `tracked` and `owned` declare

export type {
  NumberedRow,
  PushOptions,
  Quotas,
  StreamsOptions,
  TenantStreams,
  ViewRange,
} from "./service/index.js";
export { openStreams, StreamService } from "./service/index.js";
