import type { CoreEvent, Ticket, View, Wait } from "./event.js";

export interface Send {
  /** Of the event that sent it. */
  readonly ticket: Ticket;
  readonly to: string;
  /** Counts the messages to this receiver, from 1. */
  readonly sequence: number;
  readonly body: unknown;
}

/**
 * What the core wants done, as data. Duties of whoever carries it out, in this order:
 * 1. `undo` (take it with `takeUndo()` right after `finish` or `retract`): put the contexts that each event had
 *    entered back to their state before it, event after event, and let its present try do nothing more;
 * 2. `views`: hold on to the present state of the view's context, for its event;
 * 3. `enter`: run the start or call (unless `attempt` is not the event's any more);
 * 4. `append`: write the events' records to the journal, in this order, then call `journaled` with them;
 * 5. `settled`: answer whoever waits for the event, and arm and disarm its timers;
 * 6. `send`: pass the messages on, in this order per receiver.
 */
export class Ready<P> {
  /** Events that got a ticket by themselves: those that an event had started, and messages. */
  ticketed: CoreEvent<P>[] = NONE;
  undo: CoreEvent<P>[] = NONE;
  views: View<P>[] = NONE;
  /** The first; each knows the next. */
  enter: Wait<P> | null = null;
  #lastEnter: Wait<P> | null = null;
  append: CoreEvent<P>[] = NONE;
  settled: CoreEvent<P>[] = NONE;
  send: Send[] = NONE;

  get isEmpty(): boolean {
    return (
      this.enter === null &&
      this.ticketed === NONE &&
      this.append === NONE &&
      this.settled === NONE &&
      this.send === NONE &&
      this.undo === NONE &&
      this.views === NONE
    );
  }

  mayEnter(wait: Wait<P>): void {
    if (this.#lastEnter === null) this.enter = wait;
    else this.#lastEnter.next = wait;
    this.#lastEnter = wait;
  }

  takeUndo(): CoreEvent<P>[] {
    const { undo } = this;
    this.undo = NONE;
    return undo;
  }
}

/** The list of those who have nothing: most of the time, most lists are empty. */
const NONE: never[] = [];

/** A list made with its first item takes one slot; pushing to an empty one makes room for seventeen. */
export function added<T>(list: T[] | null, item: T): T[] {
  if (list === null || list === NONE) return [item];
  list.push(item);
  return list;
}
