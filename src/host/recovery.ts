import type { Message } from "../core/event.js";
import { HeadwaterError } from "../errors.js";
import { Outside } from "../model/outside.js";
import { resolvePath } from "../model/path.js";
import type { Method } from "../model/shape.js";
import type { Ledger } from "./ledger.js";
import type { LogicalNode } from "./node.js";
import { clientMessage, nodeMessage } from "./outgoing.js";
import type { PendingCall } from "./outside-calls.js";
import type { Slot } from "./slot.js";
import type { StoredCall } from "./stored-event.js";

/** By logical node and ticket: the messages of committed events that may not have left, in the order of their asking. */
type Sent = Map<string, Map<number, Message[]>>;

export function sentMessages(ledger: Ledger, nodes: ReadonlyMap<string, LogicalNode>): Sent {
  const found: { from: string; ticket: number; index: number; message: Message }[] = [];
  for (const node of nodes.values()) {
    for (const { ticket, index, client, message } of ledger.messages(node.name)) {
      found.push({ from: node.name, ticket, index, message: clientMessage(client, message, index) });
    }
    for (const stored of ledger.pending(node.name)) {
      const { origin, args } = stored;
      if (origin.kind !== "message" || stored.ticket > 0) continue; // with a ticket, it has arrived
      const message = nodeMessage({ ...node.find(stored), args, origin });
      found.push({ from: origin.from, ticket: origin.parent, index: origin.index, message });
    }
  }
  found.sort((a, b) => a.ticket - b.ticket || a.index - b.index);
  const sent: Sent = new Map();
  for (const { from, ticket, message } of found) {
    const byTicket = sent.get(from) ?? new Map<number, Message[]>();
    sent.set(from, byTicket);
    const messages = byTicket.get(ticket) ?? [];
    byTicket.set(ticket, messages);
    messages.push(message);
  }
  return sent;
}

export function pendingCall(
  root: Slot,
  { outside: name, input, path, method, origin }: StoredCall,
): PendingCall {
  const slot = resolvePath(root, path);
  const outside = Outside.named(name);
  if (outside === undefined) {
    throw unfit(
      `an outside call of "${name}" for ${slot} that is still to be made, but there is no outside function of that name ` +
        "any more. Declare it until those calls have been made",
    );
  }
  const { parent, index } = origin;
  return { outside, input, slot, method: method === null ? null : methodOf(slot, method), parent, index };
}

export function methodOf(slot: Slot, name: string): Method {
  const method = slot.shape.methods.get(name);
  if (method !== undefined) return method;
  throw unfit(
    `an event ${slot}.${name}(…) that is still to run, but ${slot.shape.name} has no method "${name}" any more. ` +
      "Put the method back until those events have run",
  );
}

function unfit(what: string): HeadwaterError {
  return new HeadwaterError("HW-3023", `the journal holds ${what}.`);
}
