import type { Message, Moment, Recovered } from "../../core/event.js";
import { HeadwaterError, invariant } from "../../errors.js";
import { Outside } from "../../model/outside.js";
import { resolvePath } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import { decodeState, type Slot } from "../context/index.js";
import {
  clientMessage,
  EventRequest,
  InJournal,
  messageElsewhere,
  methodOf,
  nodeMessage,
  unfit,
} from "../event/index.js";
import { type Ledger, outgoingMessages, type StoredCall, type StoredEvent } from "../store/index.js";
import type { LogicalNode } from "./node.js";
import type { PendingCall } from "./outside-calls.js";
import type { Surroundings } from "./surroundings.js";
import type { StoredTimers, Timer } from "./timers.js";

/**
 * By logical node and ticket: the messages of committed events that may not have left, in the order of the tickets and of their
 * asking. Nodes that are gone from the program may be among the senders.
 */
type Sent = Map<string, Map<number, Message[]>>;

export function sentMessages(
  ledger: Ledger,
  nodes: ReadonlyMap<string, LogicalNode>,
  roots: ReadonlyMap<string, Slot>,
): Sent {
  const all: { from: string; ticket: number; index: number; message: Message }[] = [];
  for (const from of ledger.nodesWithMessages()) {
    for (const { ticket, index, client, bytes } of ledger.messages(from)) {
      all.push({ from, ticket, index, message: clientMessage(client, new InJournal(bytes), index) });
    }
  }
  for (const { from, to, position } of outgoingMessages(ledger.journal)) {
    if (!roots.has(to) || nodes.has(to)) continue; // another version of the program may have it
    const [ticket, index] = position;
    all.push({ from, ticket, index, message: messageElsewhere(to, position) });
  }
  for (const node of nodes.values()) {
    for (const stored of ledger.pending(node.name)) {
      const { origin, args } = stored;
      if (origin.kind !== "message" || stored.ticket > 0) continue; // with a ticket, it has arrived
      const message = nodeMessage({ ...found(node.root, stored), args, origin });
      all.push({ from: origin.from, ticket: origin.parent, index: origin.index, message });
    }
  }
  all.sort((a, b) => a.ticket - b.ticket || a.index - b.index);
  const sent: Sent = new Map();
  for (const { from, ticket, message } of all) {
    const byTicket = sent.get(from) ?? new Map<number, Message[]>();
    sent.set(from, byTicket);
    const messages = byTicket.get(ticket) ?? [];
    byTicket.set(ticket, messages);
    messages.push(message);
  }
  return sent;
}

/** What a logical node had still to do. */
interface UnfinishedBusiness {
  /** Events that keep their tickets. */
  readonly ticketed: { readonly ticket: number; readonly moment: Moment; readonly request: EventRequest }[];
  readonly started: EventRequest[];
  /** Those whose events are among the ticketed ones. */
  readonly timers: Timer[];
  readonly calls: PendingCall[];
}

export function unfinishedBusiness(ledger: Ledger, root: Slot): UnfinishedBusiness {
  const business: UnfinishedBusiness = { ticketed: [], started: [], timers: [], calls: [] };
  const { ticketed, started, timers, calls } = business;
  const keep = (stored: StoredEvent) => {
    const { ticket, time: ms, steadyMs = ms } = stored;
    ticketed.push({ ticket, moment: { ms, steadyMs }, request: restored(root, stored) });
  };
  for (const stored of ledger.pending(root.node)) {
    if (stored.ticket > 0) keep(stored);
    else if (stored.origin.kind === "start") started.push(restored(root, stored));
    if (stored.origin.kind === "timer") timers.push(timerIn(root, stored));
  }
  for (const stored of ledger.calls(root.node)) {
    if ("outside" in stored) calls.push(pendingCall(root, stored));
    else keep(stored);
  }
  return business;
}

function timerIn(root: Slot, stored: StoredEvent): Timer {
  const { origin, args } = stored;
  invariant(origin.kind === "timer", "a timer in a journal says when it is due");
  const { id, due, owner: path } = origin;
  const at = found(root, stored);
  const owner = path === undefined ? at.slot : resolvePath(root, path);
  return { kind: "timer", id, owner, due, ...at, args };
}

/**
 * The armed timers in the journal, as they are needed. What does not fit the classes of the program (HW-3023) is refused
 * when the program begins, as far as it is looked at then; what is found later stays in the journal for a program that it
 * fits, with a warning.
 */
export function storedTimers(ledger: Ledger, root: Slot, around: Pick<Surroundings, "warn">): StoredTimers {
  let isFirst = true;
  return {
    has: (key) => ledger.hasTimer(key),
    *behind(after) {
      const isBeginning = isFirst;
      isFirst = false;
      for (const [key, stored] of ledger.timers(root.node, after)) {
        let timer: Timer;
        try {
          timer = timerIn(root, stored);
        } catch (error) {
          if (isBeginning || !(error instanceof HeadwaterError)) throw error;
          around.warn(error);
          continue;
        }
        yield [key, timer];
      }
    },
  };
}

/** What the core of a logical node goes on with. */
export function inTicketOrder(
  ticketed: UnfinishedBusiness["ticketed"],
  sent: ReadonlyMap<number, readonly Message[]>,
): Recovered<EventRequest>[] {
  const items: Recovered<EventRequest>[] = [...ticketed];
  for (const [ticket, messages] of sent) items.push({ ticket, messages });
  return items.sort((a, b) => a.ticket - b.ticket);
}

function restored(root: Slot, stored: StoredEvent): EventRequest {
  const { slot, method } = found(root, stored);
  const request = new EventRequest(slot, method, stored.args, undefined, stored.origin, null);
  for (const [path, state] of stored.seen) {
    const above = resolvePath(root, path);
    request.seen ??= new Map();
    request.seen.set(above, decodeState(above, state));
  }
  return request;
}

/** The context and the method of an event in the journal. */
function found(root: Slot, { path, method }: StoredEvent): { slot: Slot; method: Method } {
  const slot = resolvePath(root, path);
  return { slot, method: methodOf(slot, method) };
}

function pendingCall(root: Slot, stored: StoredCall): PendingCall {
  const { outside: name, input, path, method: named, args = [], origin, keyedBy } = stored;
  const slot = resolvePath(root, path);
  const outside = Outside.named(name);
  if (outside === undefined) {
    throw unfit(
      `an outside call of "${name}" for ${slot} that is still to be made, but there is no outside function of that name ` +
        "any more. Declare it until those calls have been made",
    );
  }
  const { parent, index } = origin;
  const method = named === null ? null : methodOf(slot, named);
  return { outside, input, slot, method, args, parent, index, isOld: keyedBy === undefined };
}
