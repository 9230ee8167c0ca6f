import type { Message, Outcome, Request, Ticket } from "../../core/event.js";
import type { MessagePosition } from "../../model/between-logs.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import type { Effect } from "./effects.js";
import { EventRequest, type Origin } from "./request.js";
import type { RunningEvent } from "./supervisor.js";

/** A message to a context of another logical node, on its way. */
export interface NodeMessage {
  readonly slot: Slot;
  readonly method: Method;
  readonly args: unknown[];
  readonly origin: Extract<Origin, { kind: "message" }>;
}

export type MessageBody =
  | { readonly kind: "node"; readonly message: NodeMessage }
  /** To a logical node of another log, and in the journal. */
  | { readonly kind: "elsewhere"; readonly to: string; readonly position: MessagePosition }
  | { readonly kind: "client"; readonly client: string; readonly message: unknown; readonly index: number };

/** Stands for a message to a client that the journal has, and that is read when it is handed over. */
export class InJournal {
  constructor(readonly bytes: number) {}
}

/** Where a message to a client came from. */
export interface Told {
  readonly node: string;
  readonly ticket: Ticket;
  /** Its position among what the event asked for. */
  readonly index: number;
}

/** A message as the core passes it on. */
export function nodeMessage(message: NodeMessage): Message {
  const body: MessageBody = { kind: "node", message };
  return { to: `node:${message.slot.node}`, body };
}

export function messageElsewhere(to: string, position: MessagePosition): Message {
  const body: MessageBody = { kind: "elsewhere", to, position };
  return { to: `node:${to}`, body };
}

export function clientMessage(client: string, message: unknown, index: number): Message {
  const body: MessageBody = { kind: "client", client, message, index };
  return { to: `client:${client}`, body };
}

export const NOTHING_MORE: Outcome<EventRequest> = { failed: false, starts: [], messages: [] };
export const FAILED: Outcome<EventRequest> = { failed: true, starts: [], messages: [] };

/** What an event that ended well asked for, as the core takes it. */
export function outcomeOf(event: RunningEvent, effects: readonly Effect[]): Outcome<EventRequest> {
  const { node } = event.payload.slot;
  const starts: Request<EventRequest>[] = [];
  const messages: Message[] = [];
  for (const [index, effect] of effects.entries()) {
    if (effect.kind === "start") {
      const origin: Origin = { kind: "start", parent: event.ticket, index };
      starts.push(new EventRequest(effect.slot, effect.method, effect.args, undefined, origin, null));
    } else if (effect.kind === "send") {
      const { slot, method, args, sender } = effect;
      const origin: NodeMessage["origin"] = {
        kind: "message",
        from: node,
        parent: event.ticket,
        index,
        sender,
      };
      messages.push(nodeMessage({ slot, method, args, origin }));
    } else if (effect.kind === "tell") {
      messages.push(clientMessage(effect.client, effect.message, index));
    }
  }
  return { failed: false, starts, messages };
}
