/**
 * What the head and its hosts say to each other, in bytes: the messages (`wire`), their encoding (`packed`,
 * `bytes`), batches of them in both directions (`Outbox`, `Inbox`, joined to a `HeadLine` and a `HostLine`), and
 * states in pieces.
 */

export { Inbox } from "./inbox.js";
export { HeadLine, HostLine } from "./line.js";
export { Outbox } from "./outbox.js";
export { packedValue, unpackedValue } from "./packed.js";
export { largest, PieceWriter, writesIn } from "./pieces.js";
export { failedEnd, tooLarge } from "./too-large.js";
export {
  type AboveOnWire,
  type AttemptId,
  at,
  type CallerOnWire,
  type CallRequest,
  type EventHeader,
  type Existing,
  found,
  type ToHead,
  type ToHost,
  unwired,
  unwireEffect,
  type WireOutcome,
  wired,
  wireEffect,
} from "./wire.js";
