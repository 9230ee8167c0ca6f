import type { Message, Ordered, Ticket } from "./event.js";
import type { Send } from "./ready.js";

/** Events in ticket order, up to the moment at which their messages leave. */
export class Order<P> {
  first: Ordered<P> | null = null;
  #last: Ordered<P> | null = null;
  readonly #sequences = new Map<string, number>();

  join(event: Ordered<P>): void {
    event.earlier = this.#last;
    if (this.#last === null) this.first = event;
    else this.#last.later = event;
    this.#last = event;
  }

  /** Takes the event out, and numbers its messages. */
  leave(event: Ordered<P>): Send[] {
    if (event.earlier === null) this.first = event.later;
    else event.earlier.later = event.later;
    if (event.later === null) this.#last = event.earlier;
    else event.later.earlier = event.earlier;
    event.earlier = null;
    event.later = null;
    const messages = event.outcome?.messages ?? NONE;
    return messages.length === 0 ? NONE : messages.map((message) => this.#numbered(event.ticket, message));
  }

  #numbered(ticket: Ticket, { to, body }: Message): Send {
    const sequence = (this.#sequences.get(to) ?? 0) + 1;
    this.#sequences.set(to, sequence);
    return { ticket, to, sequence, body };
  }
}

/** What is left of an event that has committed and whose messages may not have left. */
export function messagesOf<P>(ticket: Ticket, messages: readonly Message[]): Ordered<P> {
  return {
    ticket,
    status: "settled",
    outcome: { failed: false, starts: NONE, messages },
    earlier: null,
    later: null,
  };
}

const NONE: never[] = [];
