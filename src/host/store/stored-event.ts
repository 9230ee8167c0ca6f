import type { Ticket } from "../../core/event.js";
import type { Write } from "../../journal/journal.js";
import { pathOf, type Step } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import { encode } from "../../state/codec.js";
import { digits, encodeState, NAME_BYTES_MAX, type Slot, segment, shortened } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import { askedInOrder, type Effect, type Origin, type Told, timerKey, timerOrigin } from "../event/index.js";
import { type OtherLogs, outgoingKey } from "./other-logs.js";
import { parkedKey } from "./parked.js";

/** An event that no caller outside asked for, as the journal keeps it until it commits. */
export interface StoredEvent {
  readonly path: readonly Step[];
  readonly method: string;
  readonly args: unknown[];
  readonly origin: Origin;
  /** When it got its ticket, if it has one. */
  readonly time: number;
  /** The same by the clock that only goes forward. Journals of before have one clock for both. */
  readonly steadyMs?: number;
  /** Its ticket, if an event with a later one has committed before it; else 0. */
  readonly ticket: Ticket | 0;
  /** What it had seen of contexts above by then, as far as no event could take it back. */
  readonly seen: readonly (readonly [path: readonly Step[], state: Uint8Array])[];
}

/** A message to a client, and where it came from. */
export interface StoredMessage {
  readonly ticket: Ticket;
  readonly index: number;
  readonly client: string;
  readonly message: unknown;
  readonly bytes: number;
}

/** The keys of a logical node's events that are still to come. Timers that have not gone off are apart (`due.ts`). */
export function keysOfEvents(node: string): string {
  return `e/${segment(node)}/`;
}

/** Those of outside calls without a result, and of results whose events have not committed. */
export function keysOfCalls(node: string): string {
  return `o/${segment(node)}/`;
}

/** Where the journal keeps an event until it commits; null if it does not. */
export function keyOf(node: string, origin: Origin): string | null {
  switch (origin.kind) {
    case "request":
      return null;
    case "timer":
      return timerKey(node, origin.id, origin.due);
    case "parked":
      return parkedKey(node, origin.ticket);
    case "outside":
      return `${keysOfCalls(node)}${digits(origin.parent)}/${digits(origin.index)}`;
    case "start":
      return `${keysOfEvents(node)}start/${digits(origin.parent)}/${digits(origin.index)}`;
    case "message": {
      const { from, parent, index } = origin;
      return `${keysOfEvents(node)}message/${segment(from)}/${digits(parent)}/${digits(index)}`;
    }
  }
}

/** Where the journal keeps a message to a client until the client confirms it. */
export function messageKey(client: string, { node, ticket, index }: Told): string {
  return `${keysOfMessages(node)}${digits(ticket)}/${digits(index)}/${shortened(client, NAME_BYTES_MAX)}`;
}

/** Under which keys a journal has messages to clients. */
export const MESSAGES = "m/";

export function keysOfMessages(node: string): string {
  return `${MESSAGES}${segment(node)}/`;
}

/**
 * Where the journal has an event that a timer has begun, from the moment on at which it must keep its ticket. The timer
 * stays where it is, too, until the event commits.
 */
export function ticketedTimerKey(node: string, { id }: Extract<Origin, { kind: "timer" }>): string {
  return `${keysOfEvents(node)}timer/${askedInOrder(node, id)}`;
}

/** What an effect leaves in the journal; null if nothing. */
export function effectWrite(
  event: NodeEvent,
  index: number,
  effect: Effect,
  elsewhere: OtherLogs | null,
): Write | null {
  const { node } = event.payload.slot;
  switch (effect.kind) {
    case "start":
      return stored(effect, { kind: "start", parent: event.ticket, index }, event.time);
    case "send":
      return messageWrite(event, index, effect, elsewhere);
    case "timer":
      return stored(effect, timerOrigin(effect), event.time);
    case "outside":
      return callWrite(effect, { kind: "outside", parent: event.ticket, index });
    case "cancel":
      return effect.due === null ? null : { key: timerKey(node, effect.id, effect.due), value: null };
    case "tell":
      return {
        key: messageKey(effect.client, { node, ticket: event.ticket, index }),
        value: encode([effect.client, effect.message]),
      };
  }
}

/** A message stands among the events of its receiver, or among what other logs are to take. */
function messageWrite(
  { ticket, time, payload }: NodeEvent,
  index: number,
  effect: Extract<Effect, { kind: "send" }>,
  elsewhere: OtherLogs | null,
): Write {
  const { node: from } = payload.slot;
  const { node: to } = effect.slot;
  const origin: Origin = { kind: "message", from, parent: ticket, index, sender: effect.sender };
  if (elsewhere?.has(to) !== true) return stored(effect, origin, time);
  const { value } = stored(effect, { ...origin, history: elsewhere.history }, time);
  return { key: outgoingKey(from, to, [ticket, index]), value };
}

/** The same for an event that has its ticket: it must keep it, because one with a later ticket commits now. */
export function ticketWrite({ ticket, time, steadyMs, payload, views }: NodeEvent): Write {
  const { slot, origin, seen, method, args } = payload;
  const states = [...(seen ?? [])].flatMap(([above, state]) => {
    const view = views?.find(({ context }) => context === above.coreContext); // none if an earlier process took it
    if (state === null || view?.isFinal === false) return [];
    return [[pathOf(above), encodeState(above, state)] as const];
  });
  const event: StoredEvent = {
    path: pathOf(slot),
    method: method.name,
    args,
    origin,
    time,
    steadyMs,
    ticket,
    seen: states,
  };
  const key = origin.kind === "timer" ? ticketedTimerKey(slot.node, origin) : keyOf(slot.node, origin);
  return { key: key as string, value: encode(event) };
}

/** An outside call that has no result yet. */
export interface StoredCall {
  readonly outside: string;
  readonly input: unknown;
  readonly path: readonly Step[];
  readonly method: string | null;
  /** What the method gets besides the result. Journals of earlier versions do not have it. */
  readonly args?: unknown[];
  readonly origin: Extract<Origin, { kind: "outside" }>;
  /** Of what its key consists. Calls that were asked for before keys held the history have none of this. */
  readonly keyedBy?: "history";
}

function callWrite(effect: Extract<Effect, { kind: "outside" }>, origin: StoredCall["origin"]): Write {
  const { outside, input, slot, method, args } = effect;
  const call: StoredCall = {
    outside: outside.name,
    input,
    path: pathOf(slot),
    method: method?.name ?? null,
    args,
    origin,
    keyedBy: "history",
  };
  return { key: keyOf(slot.node, origin) as string, value: encode(call) };
}

interface Asked {
  readonly slot: Slot;
  readonly method: Method;
  readonly args: unknown[];
}

function stored({ slot, method, args }: Asked, origin: Origin, time: number): Write {
  const event: StoredEvent = {
    path: pathOf(slot),
    method: method.name,
    args,
    origin,
    time,
    ticket: 0,
    seen: [],
  };
  return { key: keyOf(slot.node, origin) as string, value: encode(event) };
}

/** Under which keys a journal has the clients for which messages are kept. */
export const CLIENTS = "k/";

/** Under which key it has one of them. */
export function clientKey(client: string): string {
  return `${CLIENTS}${shortened(client, NAME_BYTES_MAX)}`;
}
