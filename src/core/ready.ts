import type { CoreEvent, EntryRequest, Ticket, ViewRequest } from "./event.js";

export interface Send {
  /** Of the event that sent it. */
  readonly ticket: Ticket;
  readonly to: string;
  /** Counts the messages to this receiver, from 1. */
  readonly sequence: number;
  readonly body: unknown;
}

/** What the core wants done, as data. `carryOut` does it in the right order (README.md); undo what is to be undone at once. */
export class Ready<P> {
  /** Events that got a ticket by themselves: events that another event had started, and messages. */
  ticketed: CoreEvent<P>[] = NONE;
  undo: CoreEvent<P>[] = NONE;
  views: ViewRequest<P>[] = NONE;
  /** The first; it knows those `along` with it. */
  append: CoreEvent<P> | null = null;
  #lastAppend: CoreEvent<P> | null = null;
  #enter: EntryRequest<P> | null = null;
  #lastEnter: EntryRequest<P> | null = null;
  #settled: CoreEvent<P> | null = null;
  #lastSettled: CoreEvent<P> | null = null;
  send: Send[] = NONE;

  get isEmpty(): boolean {
    return (
      this.#enter === null &&
      this.ticketed === NONE &&
      this.append === null &&
      this.#settled === null &&
      this.send === NONE &&
      this.undo === NONE &&
      this.views === NONE
    );
  }

  mayEnter(entry: EntryRequest<P>): void {
    if (this.#lastEnter === null) this.#enter = entry;
    else this.#lastEnter.after = entry;
    this.#lastEnter = entry;
  }

  isLast(entry: EntryRequest<P>): boolean {
    return this.#lastEnter === entry;
  }

  mustAppend(event: CoreEvent<P>): void {
    if (this.#lastAppend === null) this.append = event;
    else this.#lastAppend.along = event;
    this.#lastAppend = event;
  }

  hasSettled(event: CoreEvent<P>): void {
    if (this.#lastSettled === null) this.#settled = event;
    else this.#lastSettled.along = event;
    this.#lastSettled = event;
  }

  /** Hands out one after the other, and null at the end. */
  nextToEnter(): EntryRequest<P> | null {
    const entry = this.#enter;
    if (entry === null) return null;
    this.#enter = entry.after;
    entry.after = null;
    return entry;
  }

  nextSettled(): CoreEvent<P> | null {
    const event = this.#settled;
    if (event === null) return null;
    this.#settled = event.along;
    event.along = null;
    return event;
  }

  takeRollbacks(): CoreEvent<P>[] {
    const { undo } = this;
    this.undo = NONE;
    return undo;
  }
}

/** An empty list that is shared: most of the time, most lists are empty. */
export const NONE: never[] = [];

/** A list made with its first item takes one slot; pushing to an empty one makes room for seventeen. */
export function added<T>(list: T[] | null, item: T): T[] {
  if (list === null || list === NONE) return [item];
  list.push(item);
  return list;
}

/** Do these start others? */
export function startsEvents<P>(first: CoreEvent<P>): boolean {
  for (let event: CoreEvent<P> | null = first; event !== null; event = event.along)
    if (event.outcome !== null && event.outcome.starts.length > 0) return true;
  return false;
}

/** An event and those along with it. */
export function allAlong<P>(first: CoreEvent<P>): CoreEvent<P>[] {
  const events: CoreEvent<P>[] = [];
  for (let at: CoreEvent<P> | null = first; at !== null; at = at.along) events.push(at);
  return events;
}
