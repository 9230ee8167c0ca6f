import type { NodeEvent } from "../event/index.js";

/**
 * Events that no caller outside asked for, and of which the journal does not know the ticket, or not all that they have
 * seen. Should the run end, they are started again under new tickets, which cannot be observed as long as no event with a
 * later ticket has committed. So what is known of them is written with the first one that does.
 */
export class Unrecorded {
  /** In ticket order. */
  readonly #events: NodeEvent[] = [];

  add(event: NodeEvent): void {
    const events = this.#events;
    let at = events.length;
    while (at > 0 && (events[at - 1] as NodeEvent).ticket > event.ticket) at -= 1;
    if (events[at - 1] !== event) events.splice(at, 0, event);
  }

  /** Events that these events commit before, although their tickets are lower. */
  overtakenBy(events: readonly NodeEvent[]): NodeEvent[] {
    if (this.#events.length === 0) return [];
    let last = 0;
    for (const { ticket } of events) last = Math.max(last, ticket);
    let count = 0;
    while ((this.#events[count]?.ticket ?? Number.POSITIVE_INFINITY) <= last) count += 1;
    return this.#events.splice(0, count).filter(({ isOpen }) => isOpen);
  }
}
