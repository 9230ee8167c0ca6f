import type { CoreEvent, View } from "./event.js";

/** A call below, or the start of an event, that may go ahead now. */
export interface Enter<P> {
  readonly event: CoreEvent<P>;
  readonly attempt: number;
  readonly token: unknown;
}

export interface Send<P> {
  readonly event: CoreEvent<P>;
  readonly to: string;
  /** Counts the messages to this receiver, from 1. */
  readonly sequence: number;
  readonly body: unknown;
}

/**
 * What the core wants done, as data. It is filled again after the next call of `ready()`. Duties of whoever carries it out, in this order:
 * 1. `undo` (take it with `takeUndo()` right after `finish` or `retract`): put the contexts that each event had
 *    entered back to their state before it, event after event, and let its present try do nothing more;
 * 2. `views`: hold on to the present state of the view's context, for its event;
 * 3. `enter`: run the start or call (unless `attempt` is not the event's any more);
 * 4. `append`: write the events' records to the journal, in this order, then call `journaled` with them;
 * 5. `settled`: answer whoever waits for the event, and arm and disarm its timers;
 * 6. `send`: pass the messages on, in this order per receiver.
 */
export class Ready<P> {
  readonly undo: CoreEvent<P>[] = [];
  readonly views: View<P>[] = [];
  readonly enter: Enter<P>[] = [];
  readonly append: CoreEvent<P>[] = [];
  readonly settled: CoreEvent<P>[] = [];
  readonly send: Send<P>[] = [];

  clear(): void {
    this.undo.length = 0;
    this.views.length = 0;
    this.enter.length = 0;
    this.append.length = 0;
    this.settled.length = 0;
    this.send.length = 0;
  }

  get isEmpty(): boolean {
    return (
      this.enter.length === 0 &&
      this.append.length === 0 &&
      this.settled.length === 0 &&
      this.send.length === 0 &&
      this.undo.length === 0 &&
      this.views.length === 0
    );
  }
}
