/**
 * The door `headwater/streams/client`: talks to a streaming service over HTTP. It runs in browsers and in Node, needs nothing but
 * `fetch`, and types rows as the library does.
 */
export { HeadwaterError, mayRetry } from "../../errors.js";
export type {
  NumberedRow,
  PushReceipt,
  RowToPush,
  StreamColumns,
  StreamId,
  StreamRow,
} from "../typed/index.js";
export { StreamsClient } from "./client.js";
export { Producer, type SealedKey } from "./producer.js";
export type { ClientOptions } from "./requests.js";
