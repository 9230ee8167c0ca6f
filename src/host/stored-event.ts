import type { CoreEvent, Ticket } from "../core/event.js";
import type { Write } from "../journal/journal.js";
import type { TimerId } from "../model/event.js";
import { pathOf, type Step } from "../model/path.js";
import type { Method } from "../model/shape.js";
import { encode } from "../state/codec.js";
import type { Effect } from "./effects.js";
import { parkedKey } from "./parked.js";
import type { EventRequest, Origin } from "./request.js";
import type { Slot } from "./slot.js";
import { NAME_BYTES_MAX, shortened } from "./stored-keys.js";
import { encodeState } from "./stored-state.js";
import type { Told } from "./surroundings.js";

/** An event that nobody outside asked for, as the journal keeps it until it commits. */
export interface StoredEvent {
  readonly path: readonly Step[];
  readonly method: string;
  readonly args: unknown[];
  readonly origin: Origin;
  /** When it got its ticket or, if it has none yet, when it is due. */
  readonly time: number;
  /** Its ticket, if an event with a later one has committed before it; else 0. */
  readonly ticket: number;
  /** What it had seen of contexts above by then. */
  readonly seen: readonly (readonly [path: readonly Step[], state: Uint8Array])[];
}

/** The keys of a logical node's events that are still to come. Those of timers are apart: most are far from due. */
export function keysOfEvents(node: string): string {
  return `e/${segment(node)}/`;
}

/** Those of outside calls without a result, and of results whose events have not committed. */
export function keysOfCalls(node: string): string {
  return `o/${segment(node)}/`;
}

export function keysOfTimers(node: string): string {
  return `t/${segment(node)}/`;
}

/** A name as a part of a key. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** Where the journal keeps an event until it commits; null if it does not. */
export function keyOf(node: string, origin: Origin): string | null {
  switch (origin.kind) {
    case "request":
      return null;
    case "timer":
      return timerKey(node, origin.id);
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

function timerKey(node: string, id: TimerId): string {
  return `${keysOfTimers(node)}${shortened(id, NAME_BYTES_MAX)}`;
}

/** Where the journal keeps a message to a client until the client confirms it. */
export function messageKey(client: string, { node, ticket, index }: Told): string {
  return `${keysOfMessages(node)}${digits(ticket)}/${digits(index)}/${shortened(client, NAME_BYTES_MAX)}`;
}

export function keysOfMessages(node: string): string {
  return `m/${segment(node)}/`;
}

/** So that the order of keys is the order of numbers. */
function digits(count: number): string {
  return String(count).padStart(16, "0");
}

/** What an effect leaves in the journal. */
export function effectWrite(event: CoreEvent<EventRequest>, index: number, effect: Effect): Write {
  const { node } = event.payload.slot;
  switch (effect.kind) {
    case "start":
      return stored(effect, { kind: "start", parent: event.ticket, index }, event.time);
    case "send":
      return stored(effect, { kind: "message", from: node, parent: event.ticket, index }, event.time);
    case "timer":
      return stored(effect, { kind: "timer", id: effect.id }, effect.due);
    case "outside":
      return callWrite(effect, { kind: "outside", parent: event.ticket, index });
    case "cancel":
      return { key: timerKey(node, effect.id), value: null };
    case "tell":
      return {
        key: messageKey(effect.client, { node, ticket: event.ticket, index }),
        value: encode([effect.client, effect.message]),
      };
  }
}

/** The same for an event that has its ticket: it must keep it, because one with a later ticket commits now. */
export function ticketWrite({ ticket, time, payload }: CoreEvent<EventRequest>): Write {
  const { slot, origin, seen } = payload;
  const states = [...(seen ?? [])].flatMap(([above, state]) => {
    return state === null ? [] : [[pathOf(above), encodeState(above, state)] as const];
  });
  return write(slot, payload, origin, time, ticket, states);
}

/** An outside call that has no result yet. */
export interface StoredCall {
  readonly outside: string;
  readonly input: unknown;
  readonly path: readonly Step[];
  readonly method: string | null;
  readonly origin: Extract<Origin, { kind: "outside" }>;
  /** Of what its key consists. Calls that were asked for before keys held the history have none of this. */
  readonly keyedBy?: "history";
}

function callWrite(effect: Extract<Effect, { kind: "outside" }>, origin: StoredCall["origin"]): Write {
  const { outside, input, slot, method } = effect;
  const call: StoredCall = {
    outside: outside.name,
    input,
    path: pathOf(slot),
    method: method?.name ?? null,
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

function stored(asked: Asked, origin: Origin, time: number): Write {
  return write(asked.slot, asked, origin, time, 0 as Ticket, []);
}

function write(
  slot: Slot,
  { method, args }: Asked,
  origin: Origin,
  time: number,
  ticket: Ticket,
  seen: StoredEvent["seen"],
): Write {
  const event: StoredEvent = { path: pathOf(slot), method: method.name, args, origin, time, ticket, seen };
  return { key: keyOf(slot.node, origin) as string, value: encode(event) };
}
