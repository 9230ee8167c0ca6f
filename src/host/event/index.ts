/**
 * One event, once the core lets it run: the request, its attempts (`Execution`), a method of an attempt (`Frame`),
 * the contexts it has entered, its calls below, what it asks for (`Effect`) and what of that goes out (`outgoing`).
 * An attempt is the same on the head and on a host: `Supervisor` is what it needs of them.
 */

export { AtOnce } from "./at-once.js";
export { isWhole, LIST, SHOW, shownState } from "./builtins.js";
export { ByTicket } from "./by-ticket.js";
export { positionsOf } from "./callers.js";
export { askedInOrder, keysOfTimers, timerKey } from "./due.js";
export type { Effect } from "./effects.js";
export type { EnteredContext } from "./entered-context.js";
export { Execution } from "./execution.js";
export { Frame, NO_CALL } from "./frame.js";
export type { Above, Done, Guest } from "./guest.js";
export { endsItsHosts, HostRecord } from "./host-record.js";
export { methodOf, unfit } from "./method-of.js";
export {
  clientMessage,
  FAILED,
  InJournal,
  type MessageBody,
  messageElsewhere,
  NOTHING_MORE,
  type NodeMessage,
  nodeMessage,
  outcomeOf,
  type Told,
} from "./outgoing.js";
export { isAnswer } from "./own-error.js";
export { claimRejections } from "./rejections.js";
export {
  type Attempt,
  answerSettled,
  EventRequest,
  type NodeEvent,
  type Origin,
  type RelayedNumber,
  type StateChange,
  timerOrigin,
  type WaitingCaller,
} from "./request.js";
export { Rest } from "./rest.js";
export { running } from "./running.js";
export { SlowReports } from "./slow-reports.js";
export type { RunningEvent, Supervisor } from "./supervisor.js";
export { tookTooLong } from "./took-too-long.js";
