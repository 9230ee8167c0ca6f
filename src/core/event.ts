import type { CoreContext } from "./core-context.js";
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
  readonly context: CoreContext<P>;
  readonly mode: Mode;
  /** Contexts above whose state, as of the event's ticket, the event may read. */
  readonly views: readonly CoreContext<P>[];
  readonly payload: P;
  /** For an event that changes nothing and keeps others out: contexts below its own in which it blocks no other event. */
  readonly spares?: ((context: CoreContext<P>) => boolean) | null;
}

/** What a logical node finds in its journal when it begins: events to run, and messages of events that have run. */
export type Recovered<P> =
  | { readonly ticket: number; readonly moment: Moment; readonly request: Request<P> }
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

/** What observers want to know of a core, until the caller takes it out. */
export interface CoreNotes<P> {
  /** Who had to wait for whom. */
  waits: { readonly entry: EntryRequest<P>; readonly obstacle: CoreEvent<P> }[];
  /** Which attempt of an event has entered what; null if that is not wanted. */
  entries:
    | { readonly event: CoreEvent<P>; readonly context: CoreContext<P>; readonly attempt: number }[]
    | null;
}

/** An event's request to enter a context. The core decides it again when the event in its way finishes or gives something up. */
export interface EntryRequest<P> {
  readonly event: CoreEvent<P>;
  readonly context: CoreContext<P>;
  /** The caller's own name for a call below; null for the event's start or for a view. */
  readonly token: unknown;
  readonly view: ViewRequest<P> | null;
  /** Is it about everything below the context, too? */
  readonly isWhole: boolean;
  /** The attempt of the event that made it. */
  readonly ofAttempt: number;
  /** The next that waits for the same event, or may go ahead at the same time. */
  after: EntryRequest<P> | null;
}

/** An entry request of its own: every one but that of an event's first attempt. */
export class SeparateEntryRequest<P> implements EntryRequest<P> {
  readonly ofAttempt: number;
  after: EntryRequest<P> | null = null;

  constructor(
    readonly event: CoreEvent<P>,
    readonly context: CoreContext<P>,
    readonly token: unknown,
    readonly view: ViewRequest<P> | null,
    readonly isWhole = false,
  ) {
    this.ofAttempt = event.attempt;
  }
}

/** What an event has given up since it began. */
export interface GivenUp<P> {
  /** The context it started in? */
  own: boolean;
  /** Contexts below that it had entered. */
  below: Set<CoreContext<P>> | null;
  /** Did it change any of them? */
  changed: boolean;
}

/** A time that many events share, by two clocks. */
export interface Moment {
  /** By the machine's clock, which can be set: it may be earlier than that of an earlier ticket. */
  readonly ms: number;
  /** By a clock that only goes forward: the beginning of what is measured from the event on. */
  readonly steadyMs: number;
}

/** A look at a context above, in the queue of that context until it was taken. */
export class ViewRequest<P> implements Queued<ViewRequest<P>> {
  prev: ViewRequest<P> | null = null;
  next: ViewRequest<P> | null = null;
  taken = false;
  /** The unappended events whose state was seen, or who may change what was seen when they are started again. */
  seen: CoreEvent<P>[] | null = null;
  /** The last writer in the queue of the context when the event got its ticket. */
  barrier: CoreEvent<P> | null;

  constructor(
    readonly event: CoreEvent<P>,
    readonly context: CoreContext<P>,
  ) {
    this.barrier = context.tail;
  }

  get ticket(): Ticket {
    return this.event.ticket;
  }

  /** Was it taken before a cautious event was restarted? It counts as taken once the events it saw are appended. */
  get isKept(): boolean {
    return !this.taken && this.seen !== null;
  }

  /** An event whose state was seen and that may still be restarted. */
  openSeen(): CoreEvent<P> | null {
    return this.seen?.find((writer) => writer.isOpen) ?? null;
  }

  /** Was it taken, and is every event appended whose state was seen? */
  get isFinal(): boolean {
    return (this.taken || this.isKept) && this.openSeen() === null;
  }
}

/** A context below that an event has entered, who was the last to do so before it, and what it entered before. */
export class EnteredBelow<P> {
  constructor(
    readonly context: CoreContext<P>,
    readonly lastBefore: CoreEvent<P> | null,
    readonly earlier: EnteredBelow<P> | null,
  ) {}
}

/** Something whose messages leave in ticket order, between its neighbours in that order. */
export interface Ordered<P> {
  readonly ticket: Ticket;
  status: Status;
  outcome: Outcome<P> | null;
  earlier: Ordered<P> | null;
  later: Ordered<P> | null;
}

const FIRST_ATTEMPT = 1;

/**
 * One event between its ticket and its settlement. It stands in the queue of the context it started in. For its first attempt,
 * it is itself the entry request for that context: most events need no other.
 */
export class CoreEvent<P> implements Queued<CoreEvent<P>>, Ordered<P>, EntryRequest<P> {
  prev: CoreEvent<P> | null = null;
  next: CoreEvent<P> | null = null;
  earlier: Ordered<P> | null = null;
  later: Ordered<P> | null = null;
  after: EntryRequest<P> | null = null;
  /** The next that is to be appended, or is settled, at the same time. */
  along: CoreEvent<P> | null = null;

  status: Status = "waiting";
  /** Counts the attempts; what an earlier attempt still asks for is ignored. */
  attempt = FIRST_ATTEMPT;
  givenUp: GivenUp<P> | null = null;

  /** Unfinished events above or in the same context when this one got its ticket. */
  barriers: CoreEvent<P>[] | null = null;
  /** Who waits for it: the last, which has the first as its next, so that the way round is one list. */
  lastWaiter: EntryRequest<P> | null = null;
  views: ViewRequest<P>[] | null = null;
  /** Who was the last to enter the context that the event started in, before it. */
  lastBefore: CoreEvent<P> | null = null;
  /** The context below that it entered last. */
  entered: EnteredBelow<P> | null = null;
  /** How many unappended events this one has seen the state of. */
  dependsOn = 0;
  dependents: Array<{ event: CoreEvent<P>; attempt: number }> | null = null;
  outcome: Outcome<P> | null = null;
  spares: ((context: CoreContext<P>) => boolean) | null = null;

  constructor(
    readonly ticket: Ticket,
    readonly moment: Moment,
    readonly context: CoreContext<P>,
    readonly mode: Mode,
    readonly payload: P,
  ) {}

  get event(): this {
    return this;
  }

  get token(): null {
    return null;
  }

  get view(): null {
    return null;
  }

  get isWhole(): false {
    return false;
  }

  get ofAttempt(): number {
    return FIRST_ATTEMPT;
  }

  /** The entry request for the context it starts in, of this attempt. */
  startRequest(): EntryRequest<P> {
    return this.attempt === FIRST_ATTEMPT ? this : new SeparateEntryRequest(this, this.context, null, null);
  }

  /** When it got its ticket, by the machine's clock. */
  get time(): number {
    return this.moment.ms;
  }

  /** The same by the clock that only goes forward. */
  get steadyMs(): number {
    return this.moment.steadyMs;
  }

  /** Before the journal has it, an event may still be started again. */
  get isOpen(): boolean {
    return this.status === "waiting" || this.status === "running" || this.status === "finished";
  }

  /** The contexts that the event has entered, its own first. */
  *enteredContexts(): Iterable<Pick<EnteredBelow<P>, "context" | "lastBefore">> {
    if (this.mode === "none" || this.status === "waiting") return;
    yield { context: this.context, lastBefore: this.lastBefore };
    for (let at = this.entered; at !== null; at = at.earlier) yield at;
  }

  hasEntered(context: CoreContext<P>): boolean {
    return context === this.context || this.#enteredBelow(context) !== null;
  }

  /** Who was the last to enter this context before this event did. */
  lastBeforeIn(context: CoreContext<P>): CoreEvent<P> | null {
    if (context === this.context) return this.lastBefore;
    return this.#enteredBelow(context)?.lastBefore ?? null;
  }

  #enteredBelow(context: CoreContext<P>): EnteredBelow<P> | null {
    let at = this.entered;
    while (at !== null && at.context !== context) at = at.earlier;
    return at;
  }

  /** The contexts that it has given up, at this one or below it. */
  releasedWithin(context: CoreContext<P>): CoreContext<P>[] {
    const released = [...(this.givenUp?.below ?? [])].filter((each) => each.isWithin(context));
    return this.givenUp?.own && this.context.isWithin(context) ? [this.context, ...released] : released;
  }

  hasReleased(context: CoreContext<P>): boolean {
    if (context !== this.context && this.spares?.(context)) return true;
    if (this.givenUp === null) return false;
    return context === this.context ? this.givenUp.own : (this.givenUp.below?.has(context) ?? false);
  }
}
