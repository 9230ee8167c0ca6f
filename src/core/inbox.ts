import type { Request } from "./event.js";
import type { Marks } from "./marks.js";

/** Takes each sender's messages once and in the order of their sequence numbers, however they arrive. */
export class MessageInbox<P> {
  readonly #senders = new Map<string, { next: number; early: Map<number, Request<P>> }>();

  constructor(
    readonly marks: Marks | undefined,
    readonly admit: (request: Request<P>) => void,
  ) {}

  deliver(from: string, sequence: number, request: Request<P>): void {
    let sender = this.#senders.get(from);
    if (sender === undefined) {
      sender = { next: 1, early: new Map() };
      this.#senders.set(from, sender);
    }
    if (sequence < sender.next || sender.early.has(sequence)) {
      this.marks?.hit("a duplicate message was dropped");
      return;
    }
    if (sequence > sender.next) this.marks?.hit("a message that came early waited for its turn");
    sender.early.set(sequence, request);
    for (let due = sender.early.get(sender.next); due !== undefined; due = sender.early.get(sender.next)) {
      sender.early.delete(sender.next);
      sender.next += 1;
      this.admit(due);
    }
  }
}
