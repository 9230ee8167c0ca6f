import type { NodeEvent } from "../event/index.js";

/**
 * Events that no caller outside asked for, and of which the journal does not know the ticket, or not all that they have
 * seen. Should the run end, they are started again under new tickets, which cannot be observed as long as no event with a
 * later ticket has committed. So what is known of them is written with the first one that does.
 *
 * A view of a context above is written only when every event is appended whose state it shows: a crash may end the others for
 * good. No event with a later ticket can have changed that context for good before, since it depends on them, too: without
 * the view in the journal, the next process takes it again and sees the same.
 */
export class Unrecorded {
  /** In ticket order. */
  readonly #events: NodeEvent[] = [];
  /** By an unappended event whose state they have seen: the journal knows their tickets, but not what they have seen. */
  readonly #waiting = new Map<NodeEvent, NodeEvent[]>();

  add(event: NodeEvent): void {
    const events = this.#events;
    let at = events.length;
    while (at > 0 && (events[at - 1] as NodeEvent).ticket > event.ticket) at -= 1;
    if (events[at - 1] !== event) events.splice(at, 0, event);
  }

  /** What is to be written with these events, which commit now: events that they overtake, although their tickets are lower. */
  overtakenBy(events: readonly NodeEvent[]): NodeEvent[] {
    if (this.#waiting.size > 0) for (const event of events) this.#addAllBehind(event);
    if (this.#events.length === 0) return [];
    let last = 0;
    for (const { ticket } of events) last = Math.max(last, ticket);
    let count = 0;
    while ((this.#events[count]?.ticket ?? Number.POSITIVE_INFINITY) <= last) count += 1;
    const overtaken = this.#events.splice(0, count).filter(({ isOpen }) => isOpen);
    for (const event of overtaken) this.#awaitViews(event);
    return overtaken;
  }

  #addAllBehind(appended: NodeEvent): void {
    for (const event of this.#waiting.get(appended) ?? []) this.add(event);
    this.#waiting.delete(appended);
  }

  #awaitViews(event: NodeEvent): void {
    for (const view of event.views ?? []) {
      const open = view.openSeen();
      if (open === null) continue;
      const waiting = this.#waiting.get(open);
      if (waiting === undefined) this.#waiting.set(open, [event]);
      else waiting.push(event);
    }
  }
}
