import type { Place } from "./place.js";
import type { Queued } from "./queue.js";

declare const TICKET: unique symbol;

/** The position of an event in its logical node's order. */
export type Ticket = number & { readonly [TICKET]: true };

/** Whether an event may change the contexts it enters; an anonymous context's event enters none. */
export type Mode = "write" | "read" | "none";

/** Where an event's way through the core stands. */
export type Status = "waiting" | "running" | "finished" | "appended" | "committed" | "settled";

/** An event that is still to come: which context it starts in, what it may do, and what to run. */
export interface Request<P> {
  readonly place: Place<P>;
  readonly mode: Mode;
  /** Contexts above whose state, as of the event's ticket, the event may read. */
  readonly views: readonly Place<P>[];
  readonly payload: P;
  /** For an event that changes nothing and keeps others out: contexts below its own in which it is in nobody's way. */
  readonly spares?: ((place: Place<P>) => boolean) | null;
}

/** What a logical node finds in its journal when it begins: events to run, and messages of events that have run. */
export type Recovered<P> =
  | { readonly ticket: number; readonly time: number; readonly request: Request<P> }
  | { readonly ticket: number; readonly messages: readonly Message[] };

/** A message to another logical node or to a client; `body` is nothing to the core. */
export interface Message {
  readonly to: string;
  readonly body: unknown;
}

/** What the core must know of how an event ended. */
export interface Outcome<P> {
  readonly failed: boolean;
  readonly starts: readonly Request<P>[];
  readonly messages: readonly Message[];
}

/** An event's wish to enter a context, to be looked at again when the event in its way moves on. */
export class Wait<P> {
  readonly attempt: number;
  /** The next that waits for the same event, or may go ahead at the same time. */
  next: Wait<P> | null = null;

  constructor(
    readonly event: CoreEvent<P>,
    readonly place: Place<P>,
    /** The caller's own name for a call below; null for the event's start or for a view. */
    readonly token: unknown,
    readonly view: View<P> | null,
  ) {
    this.attempt = event.attempt;
  }
}

/** What an event has given up since it began. */
export interface GivenUp<P> {
  /** The context it started in? */
  own: boolean;
  /** Contexts below that it had entered. */
  below: Set<Place<P>> | null;
  /** Did it change any of them? */
  changed: boolean;
}

/** A time that many events share. */
export interface Moment {
  readonly ms: number;
}

/** A look at a context above, in the queue of that context until it was taken. */
export class View<P> implements Queued<View<P>> {
  prev: View<P> | null = null;
  next: View<P> | null = null;
  taken = false;
  /** The unappended events whose state was seen, or who may change what was seen when they are started again. */
  seen: CoreEvent<P>[] | null = null;
  /** The last writer in the queue of the context when the event got its ticket. */
  barrier: CoreEvent<P> | null;

  constructor(
    readonly event: CoreEvent<P>,
    readonly place: Place<P>,
  ) {
    this.barrier = place.tail;
  }

  get ticket(): Ticket {
    return this.event.ticket;
  }
}

/** A context below that an event has entered, and who was the last to do so before it. */
export interface Entered<P> {
  readonly place: Place<P>;
  readonly lastBefore: CoreEvent<P> | null;
}

/** Something whose messages leave in ticket order, between its neighbours in that order. */
export interface Ordered<P> {
  readonly ticket: Ticket;
  status: Status;
  outcome: Outcome<P> | null;
  earlier: Ordered<P> | null;
  later: Ordered<P> | null;
}

/** One event between its ticket and its settlement. It stands in the queue of the context it started in. */
export class CoreEvent<P> implements Queued<CoreEvent<P>>, Ordered<P> {
  prev: CoreEvent<P> | null = null;
  next: CoreEvent<P> | null = null;
  earlier: Ordered<P> | null = null;
  later: Ordered<P> | null = null;

  status: Status = "waiting";
  /** Counts the tries; what an earlier try still asks for is ignored. */
  attempt = 1;
  givenUp: GivenUp<P> | null = null;

  /** Unfinished events above or in the same context when this one got its ticket. */
  barriers: CoreEvent<P>[] | null = null;
  /** Who waits for it: the last, which has the first as its next, so that the way round is one list. */
  lastWaiter: Wait<P> | null = null;
  views: View<P>[] | null = null;
  /** Who was the last to enter the context that the event started in, before it. */
  lastBefore: CoreEvent<P> | null = null;
  entered: Entered<P>[] | null = null;
  /** How many unappended events this one has seen the state of. */
  dependsOn = 0;
  dependents: Array<{ event: CoreEvent<P>; attempt: number }> | null = null;
  outcome: Outcome<P> | null = null;
  spares: ((place: Place<P>) => boolean) | null = null;

  constructor(
    readonly ticket: Ticket,
    readonly moment: Moment,
    readonly place: Place<P>,
    readonly mode: Mode,
    readonly payload: P,
  ) {}

  /** When it got its ticket. */
  get time(): number {
    return this.moment.ms;
  }

  /** Before the journal has it, an event may still be started again. */
  get isOpen(): boolean {
    return this.status === "waiting" || this.status === "running" || this.status === "finished";
  }

  /** The contexts that the event has entered, its own first. */
  *enteredPlaces(): Iterable<Entered<P>> {
    if (this.mode === "none" || this.status === "waiting") return;
    yield { place: this.place, lastBefore: this.lastBefore };
    if (this.entered !== null) yield* this.entered;
  }

  /** Who was the last to enter this context before this event did. */
  lastBeforeIn(place: Place<P>): CoreEvent<P> | null {
    if (place === this.place) return this.lastBefore;
    return this.entered?.find((entered) => entered.place === place)?.lastBefore ?? null;
  }

  hasReleased(place: Place<P>): boolean {
    if (place !== this.place && this.spares?.(place)) return true;
    if (this.givenUp === null) return false;
    return place === this.place ? this.givenUp.own : (this.givenUp.below?.has(place) ?? false);
  }
}
