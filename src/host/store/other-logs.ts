import type { KeyTable, Write } from "../../journal/journal.js";
import type { MessagePosition } from "../../model/between-logs.js";
import { decode, encode } from "../../state/codec.js";
import { digits, segment } from "../context/index.js";

/**
 * What a journal keeps of messages between logical nodes whose logs are different ones.
 *
 *     q/FROM/TO/TICKET/INDEX   in the sender's: a message, until the receiver's log has the event that it became
 *     f/TO/FROM/HISTORY        in the receiver's: how far it has taken the messages of that node, by the sender's history
 */
const OUTGOING = "q/";

const BEFORE_ALL: MessagePosition = [0, 0];

export function isAfter(
  [ticket, index]: MessagePosition,
  [otherTicket, otherIndex]: MessagePosition,
): boolean {
  return ticket > otherTicket || (ticket === otherTicket && index > otherIndex);
}

export function isSame(one: MessagePosition, other: MessagePosition): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Which logical nodes of the program are in other logs. */
export interface OtherLogs {
  has(node: string): boolean;
  /** Of this log: positions can be compared only within it. */
  readonly history: string;
}

export function outgoingKey(from: string, to: string, [ticket, index]: MessagePosition): string {
  return `${OUTGOING}${segment(from)}/${segment(to)}/${digits(ticket)}/${digits(index)}`;
}

/** Messages to other logs that these have not confirmed, per sender and receiver in the order of their positions. */
export function* outgoingMessages(
  table: KeyTable,
): Iterable<{ readonly from: string; readonly to: string; readonly position: MessagePosition }> {
  for (const [key] of table.range(OUTGOING)) {
    const [, from = "", to = "", ticket, index] = key.split("/");
    const position = [Number(ticket), Number(index)] as const;
    yield { from: decodeURIComponent(from), to: decodeURIComponent(to), position };
  }
}

/** The keys that say how far this logical node has taken the messages of others. */
export function keysOfTaken(to: string): string {
  return `f/${segment(to)}/`;
}

function takenKey(to: string, from: string, history: string): string {
  return `${keysOfTaken(to)}${segment(from)}/${segment(history)}`;
}

export function takenUpTo(table: KeyTable, to: string, from: string, history: string): MessagePosition {
  const bytes = table.get(takenKey(to, from, history));
  return bytes === undefined ? BEFORE_ALL : (decode(bytes) as MessagePosition);
}

export function takenWrite(to: string, from: string, history: string, position: MessagePosition): Write {
  return { key: takenKey(to, from, history), value: encode(position) };
}
