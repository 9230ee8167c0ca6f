/**
 * What a program keeps in its journal besides the states of contexts: events with tickets, timers, messages,
 * mailboxes of clients, parked events, the lives of its process. `Ledger` is the only writer; keys and encodings are
 * known only here.
 */

export {
  endHistory,
  eventKey,
  History,
  type HistoryRange,
  type HistorySpan,
  outOfRange,
  type PastEvent,
  pastEventOf,
  spanIn,
} from "./history.js";
export { Ledger } from "./ledger.js";
export { Lives } from "./lives.js";
export { Mailboxes } from "./mailboxes.js";
export {
  changeNodeSet,
  type NodeNames,
  nodeSetChange,
  shownNodes,
  storedNode,
} from "./node-set.js";
export {
  isAfter,
  isSame,
  outgoingKey,
  outgoingMessages,
  takenUpTo,
  takenWrite,
} from "./other-logs.js";
export { idOf, type Parked, type ParkedEvent } from "./parked.js";
export { clientKey, type StoredCall, type StoredEvent } from "./stored-event.js";
