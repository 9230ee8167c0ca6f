import type { Message } from "../core/event.js";
import type { Ledger } from "./ledger.js";
import type { LogicalNode } from "./node.js";
import { clientMessage, nodeMessage } from "./outgoing.js";

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
