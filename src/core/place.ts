import type { CoreEvent, View } from "./event.js";
import { TicketQueue } from "./queue.js";

/** What the core keeps of one context: who is on the way into it, in ticket order. */
export class Place<P> {
  /** Unfinished events that started here and may write, here and below. */
  readonly writers = new TicketQueue<CoreEvent<P>>();
  /** Unfinished events that started here and only read. */
  readonly readers = new TicketQueue<CoreEvent<P>>();
  /** Events below that still have to look at the state of this context. */
  readonly viewers = new TicketQueue<View<P>>();
  /** The first writer that has not given this context up. Those before it in the queue have. */
  holding: CoreEvent<P> | null = null;
  /** The last event that entered with write access, while it may still be started again. */
  last: CoreEvent<P> | null = null;
  /** Readers that finished here, while they may still be started again. */
  openReaders: CoreEvent<P>[] | null = null;

  constructor(readonly parent: Place<P> | null) {}
}
