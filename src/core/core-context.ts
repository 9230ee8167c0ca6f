import type { CoreEvent, Ticket, ViewRequest } from "./event.js";
import { TicketQueue } from "./queue.js";

/**
 * What the core keeps of one context: who is on the way into it, in ticket order. It is the queue of the unfinished events
 * that started here and may write, here and below.
 */
export class CoreContext<P> extends TicketQueue<CoreEvent<P>> {
  /** Unfinished events that started here and only read. Null until there is one, and so for most contexts. */
  readers: TicketQueue<CoreEvent<P>> | null = null;
  /** Events below that still have to look at the state of this context. Null until there is one. */
  viewers: TicketQueue<ViewRequest<P>> | null = null;
  /** The last of the writers that have given this context up: all of them stand before the others. */
  passed: CoreEvent<P> | null = null;
  /** The last event that left this context to others as a writer, while it may still be started again. */
  last: CoreEvent<P> | null = null;
  /** Readers that finished here, while they may still be started again. */
  openReaders: CoreEvent<P>[] | null = null;

  constructor(
    readonly parent: CoreContext<P> | null,
    /** What the caller has of this context; the core does not look at it. */
    readonly owner: unknown = null,
  ) {
    super();
  }

  /** Is it this context, or one below it? */
  isWithin(other: CoreContext<P>): boolean {
    for (let at: CoreContext<P> | null = this; at !== null; at = at.parent) if (at === other) return true;
    return false;
  }

  /** The event cannot be started again any more. */
  isLeftBy(event: CoreEvent<P>): void {
    if (this.last === event) this.last = null;
  }

  /** The first writer that has not given this context up. */
  get holding(): CoreEvent<P> | null {
    return this.passed === null ? this.head : this.passed.next;
  }

  /** The last one with a lower ticket. */
  lastBefore(ticket: Ticket): CoreEvent<P> | null {
    let event = this.last;
    while (event !== null && event.ticket >= ticket) event = event.lastBeforeIn(this);
    return event;
  }

  /** The readers that finished here and may still be started again. A restarted event may have to wait for them again. */
  stillOpen(): readonly CoreEvent<P>[] {
    const open = this.openReaders?.filter((reader) => reader.isOpen) ?? [];
    this.openReaders = open.length === 0 ? null : open;
    return open;
  }
}
