import { invariant } from "../errors.js";
import { barriersOf, whoHinders, whoIsInTheWay } from "./admission.js";
import type { CoreContext } from "./core-context.js";
import { depend, free } from "./dependencies.js";
import {
  CoreEvent,
  type CoreNotes,
  EnteredBelow,
  type EntryRequest,
  type Moment,
  type Ordered,
  type Outcome,
  type Recovered,
  type Request,
  SeparateEntryRequest,
  type Ticket,
  ViewRequest,
} from "./event.js";
import { MessageInbox } from "./inbox.js";
import type { Marks } from "./marks.js";
import { messagesOf, Order } from "./order.js";
import type { Plant } from "./plants.js";
import { TicketQueue } from "./queue.js";
import { added, NONE, Ready } from "./ready.js";
import { restart } from "./restart.js";

/** In which order the outside sees what events did. */
export type CommitOrder = "observer" | "total";

export interface CoreOptions {
  readonly commitOrder?: CommitOrder;
  readonly marks?: Marks | undefined;
  /** A planted bug, for the tests of the simulator. */
  readonly plant?: Plant | undefined;
}

/**
 * One logical node's order of events, as a pure state machine: inputs are the methods below, effects are what
 * `ready()` hands out. It does no input or output, knows no clock and holds no promise.
 *     request ──> waiting ──> running ──> finished ──> appended ──> committed ──> settled
 *                    ▲  no earlier one is  │  its method     │ the events     │ the journal
 *                    │  in the way          │  returned       │ it saw are     │ has it
 *                    └── restart ◄──────────┴─────────────────┘ appended too
 * `admission.ts` decides whether an event may enter a context, `restart.ts` which events start again.
 */
export class Core<P> {
  #ready = new Ready<P>();
  #ticket = 0;
  #now: Moment = { ms: 0, steadyMs: 0 };
  /** All unsettled events, and settled ones whose messages wait for earlier tickets. */
  readonly #order = new Order<P>();
  #unfinished = 0;
  readonly #inbox: MessageInbox<P>;
  readonly #total: boolean;
  readonly #marks: Marks | undefined;
  readonly #plant: Plant | undefined;
  notes: CoreNotes<P> | null = null; // of who had to wait and has entered what, if an observer wants to know

  constructor(options: CoreOptions = {}) {
    this.#total = options.commitOrder === "total";
    this.#marks = options.marks;
    this.#plant = options.plant;
    this.#inbox = new MessageInbox(options.marks, (request) => {
      this.#ready.ticketed = added(this.#ready.ticketed, this.request(request));
    });
  }

  /** Events with a ticket that have not finished yet. */
  get unfinished(): number {
    return this.#unfinished;
  }

  get isQuiet(): boolean {
    return this.#order.first === null && this.#ready.isEmpty;
  }

  /** The events that are not settled yet, in ticket order. */
  *unsettled(): Iterable<CoreEvent<P>> {
    for (let at = this.#order.first; at !== null; at = at.later) {
      if (at.status !== "settled") yield at as CoreEvent<P>; // recovered messages are settled from the start
    }
  }

  /** The effects since the last call. */
  ready(): Ready<P> {
    const ready = this.#ready;
    this.#ready = new Ready();
    return ready;
  }

  takeRollbacks(): readonly CoreEvent<P>[] {
    return this.#ready.takeRollbacks();
  }

  get hasWork(): boolean {
    return !this.#ready.isEmpty;
  }

  /** Says what time it is, by the machine's clock and by one that only goes forward. */
  tick(ms: number, steadyMs: number): void {
    if (ms !== this.#now.ms || steadyMs !== this.#now.steadyMs) this.#now = { ms, steadyMs };
  }

  /** Gives an event its ticket. It starts when no earlier event is in its way. */
  request({ context, mode, views, payload, spares = null }: Request<P>): CoreEvent<P> {
    this.#ticket += 1;
    const event = new CoreEvent<P>(this.#ticket as Ticket, this.#now, context, mode, payload);
    event.spares = spares;
    this.#unfinished += 1;
    this.#order.join(event);
    if (mode !== "none") event.barriers = barriersOf(event);
    this.#claim(event);
    if (views.length > 0) {
      event.views = views.map((above) => new ViewRequest(event, above));
      for (const view of event.views) (view.context.viewers ??= new TicketQueue()).append(view);
    }
    this.#begin(event);
    return event;
  }

  /** A message from another logical node: once, and in the order of its sequence numbers. */
  deliver(from: string, sequence: number, request: Request<P>): void {
    this.#inbox.deliver(from, sequence, request);
  }

  /** Lets a running event into a context below, past `ready()`, if it need not wait and no view is still to be taken. */
  enterNow(event: CoreEvent<P>, context: CoreContext<P>): boolean {
    invariant(event.status === "running", "only a running event can call");
    if (this.#ready.views !== NONE) return false; // it may leave its changes to others before the view is taken
    if (event.mode !== "none" && whoIsInTheWay(event, context, false, null, this.#marks, this.#plant))
      return false;
    this.#enter(event, context, false);
    return true;
  }

  /** A running event wants to enter a context below; `token` comes back in `enter`. Says whether it may at once. */
  call(event: CoreEvent<P>, context: CoreContext<P>, token: unknown, isWhole = false): boolean {
    invariant(event.status === "running", "only a running event can call");
    const entry = new SeparateEntryRequest(event, context, token, null, isWhole);
    this.#attemptEnter(entry);
    return this.#ready.isLast(entry);
  }

  /** An event gives up a context that it has entered; `changed` says whether it changed it. */
  release(event: CoreEvent<P>, context: CoreContext<P>, changed: boolean): void {
    invariant(event.status === "running", "only a running event can give up a context");
    const givenUp = (event.givenUp ??= { own: false, below: null, changed: false });
    if (context === event.context) {
      givenUp.own = true;
      if (context.holding === event) context.passed = event;
    } else (givenUp.below ??= new Set()).add(context);
    context.last = event;
    if (changed) givenUp.changed = true;
    this.#wake(event);
  }

  /**
   * A running event takes back what it changed in contexts it had given up (a call below failed and the error
   * was caught). The events to be undone first are in `ready().undo`.
   */
  retract(event: CoreEvent<P>): void {
    if (event.dependents === null) return;
    this.#marks?.hit("a rolled back call retracted a context that it had given up");
    this.#startAgain(restart([event], NONE, this.#marks));
  }

  /** What these events have done is lost, with a host: they start again, and so do events that have seen it. */
  lose(events: readonly CoreEvent<P>[]): void {
    this.#startAgain(restart(NONE, events, this.#marks));
  }

  /** An event's method has returned or thrown. */
  finish(event: CoreEvent<P>, outcome: Outcome<P>): void {
    invariant(event.status === "running", "only a running event can finish");
    event.status = "finished";
    event.outcome = outcome;
    this.#unfinished -= 1;
    if (outcome.failed) {
      this.#marks?.hit("an event failed");
      if (event.givenUp?.changed && this.#plant !== "no-cascade")
        this.#startAgain(restart([event], NONE, this.#marks));
      this.#ready.undo = added(this.#ready.undo, event);
    }
    if (event.dependsOn === 0 || this.#plant === "commit-early") {
      this.#append(event);
    } else {
      this.#marks?.hit("a finished event waited for one whose state it had seen");
      for (const { context } of event.enteredContexts()) {
        if (event.mode === "read") (context.openReaders ??= []).push(event);
        else if (event.spares === null && !event.hasReleased(context)) context.last = event;
      }
    }
    this.#unclaim(event);
    this.#wake(event); // last: an event that enters now must find its dependencies
  }

  /** The journal has the records of these events: the events of `append`. */
  journaled(first: CoreEvent<P> | null): void {
    for (let event = first, next = first; event !== null; event = next) {
      next = event.along;
      event.along = null;
      invariant(event.status === "appended", "only an appended event can be journaled");
      event.status = "committed";
      if (this.#total || event === this.#order.first) continue;
      this.#settle(event);
      if (event.outcome?.messages.length === 0 || this.#plant === "messages-out-of-order")
        this.#leaveOrder(event);
      else this.#marks?.hit("a message waited for an earlier ticket");
    }
    this.#advance();
  }

  /** Messages leave in ticket order: the first unsettled event lets its own go, then the next. */
  #advance(): void {
    const order = this.#order;
    while (order.first?.status === "committed" || order.first?.status === "settled") {
      const { first } = order;
      if (first.status === "committed") this.#settle(first as CoreEvent<P>);
      this.#leaveOrder(first);
    }
  }

  /**
   * Goes on where an earlier run of the logical node ended: nothing up to `lastTicket` is given out again, except to
   * events that had a ticket and did not get to commit. `items` are in ticket order.
   */
  recover(lastTicket: number, items: readonly Recovered<P>[]): void {
    invariant(this.#ticket === 0, "a logical node recovers before it does anything else");
    for (const item of items) {
      this.#ticket = item.ticket - 1;
      if ("request" in item) {
        this.#now = item.moment;
        this.request(item.request);
      } else this.#order.join(messagesOf(item.ticket as Ticket, item.messages));
    }
    this.#ticket = Math.max(lastTicket, items.at(-1)?.ticket ?? 0);
    this.#advance();
  }

  #settle(event: CoreEvent<P>): void {
    event.status = "settled";
    this.#ready.hasSettled(event);
    const { starts } = event.outcome as Outcome<P>;
    for (const start of starts) this.#ready.ticketed = added(this.#ready.ticketed, this.request(start));
  }

  /** The last step: the event's messages leave, and the core forgets it. */
  #leaveOrder(event: Ordered<P>): void {
    const sends = this.#order.leave(event);
    for (const send of sends) this.#ready.send = added(this.#ready.send, send);
  }

  #claim(event: CoreEvent<P>): void {
    const { context } = event;
    if (event.mode === "write") context.append(event);
    else if (event.mode === "read") (context.readers ??= new TicketQueue()).append(event);
  }

  #unclaim(event: CoreEvent<P>): void {
    const { context } = event;
    if (event.mode === "write") {
      if (context.passed === event) context.passed = event.prev;
      context.remove(event);
    } else if (event.mode === "read") {
      context.readers?.remove(event);
    }
  }

  /** Takes the views that are still to be taken, then starts the event. */
  #begin(event: CoreEvent<P>): void {
    const views = event.views?.filter((view) => !view.taken) ?? NONE;
    if (views.length === 0) this.#attemptEnter(event.startRequest());
    for (const view of views) this.#attemptEnter(new SeparateEntryRequest(event, view.context, null, view));
  }

  /** Lets an event into a context (its own if there is no `token`), or has a view taken, as soon as it may be. */
  #attemptEnter(entry: EntryRequest<P>): void {
    const { event, context, token, view, isWhole } = entry;
    if (event.status !== "running" && event.status !== "waiting") return; // a call that was not awaited
    const obstacle = whoHinders(entry, this.#order.first, this.#marks, this.#plant);
    if (obstacle !== null) {
      invariant(obstacle.ticket < event.ticket, "an event waits only for earlier ones");
      this.notes?.waits.push({ entry, obstacle });
      entry.after = obstacle.lastWaiter?.after ?? entry;
      if (obstacle.lastWaiter !== null) obstacle.lastWaiter.after = entry;
      obstacle.lastWaiter = entry;
    } else if (view !== null) {
      this.#takeView(view);
    } else {
      if (token === null) event.status = "running";
      this.#enter(event, context, isWhole);
      this.#ready.mayEnter(entry);
    }
  }

  #enter(event: CoreEvent<P>, context: CoreContext<P>, isWhole: boolean): void {
    if (event.mode === "none" || (isWhole && event.hasEntered(context))) return;
    this.notes?.entries?.push({ event, context, attempt: event.attempt });
    const { last } = context;
    if (last !== null) this.#depend(event, last);
    this.#dependOnThoseAbove(event, context);
    if (context === event.context) event.lastBefore = last;
    else event.entered = new EnteredBelow(context, last, event.entered);
    if (event.mode === "read") return;
    if (context.openReaders !== null) for (const reader of context.stillOpen()) this.#depend(event, reader);
  }

  /**
   * An event that has finished above may be started again, and may then come down here though it did not before:
   * an event that enters now depends on it as on one that was here. Above its own start, an event need look only once.
   */
  #dependOnThoseAbove(event: CoreEvent<P>, context: CoreContext<P>): void {
    for (let above = context.parent; above !== null && above !== event.context; above = above.parent) {
      // Where it was the last to enter itself, it depends on the one before it since then.
      const writer = above.last === event ? null : above.lastBefore(event.ticket);
      if (writer !== null) this.#depend(event, writer);
      if (event.mode === "read" || above.openReaders === null) continue;
      for (const reader of above.stillOpen()) if (reader.ticket < event.ticket) this.#depend(event, reader);
    }
  }

  #takeView(view: ViewRequest<P>): void {
    if (view.isKept) view.taken = true;
    else this.#look(view);
    if (view.event.views?.every(({ taken }) => taken)) this.#attemptEnter(view.event.startRequest());
  }

  #look(view: ViewRequest<P>): void {
    const { event, context } = view;
    view.taken = true;
    context.viewers?.remove(view);
    for (let at: CoreContext<P> | null = context; at !== null; at = at.parent) {
      const writer = at.lastBefore(event.ticket);
      if (writer === null) continue;
      view.seen = added(view.seen, writer);
      this.#depend(event, writer);
    }
    this.#ready.views = added(this.#ready.views, view);
    this.#wake(event); // writers of that context, later than this event, need not wait for it any more
  }

  /** `event` has seen state of `earlier`, which may still be started again. */
  #depend(event: CoreEvent<P>, earlier: CoreEvent<P>): void {
    if (earlier === event || !earlier.isOpen || this.#plant === "forget-dependency") return;
    invariant(earlier.ticket < event.ticket, "an event sees only the state of earlier ones");
    depend(event, earlier, this.#marks);
  }

  /** Appends an event and all events that had only been waiting for it. */
  #append(event: CoreEvent<P>): void {
    let appendable: CoreEvent<P>[] | null = null;
    for (let next: CoreEvent<P> | undefined = event; next !== undefined; next = appendable?.pop()) {
      this.#appendOne(next);
      const { dependents } = next;
      next.dependents = null;
      if (dependents !== null) free(dependents, (appendable ??= []));
      if (next !== event) this.#wake(next); // cautious events wait until it is appended; `finish` wakes those of `event`
    }
  }

  #appendOne(event: CoreEvent<P>): void {
    event.status = "appended";
    this.#ready.mustAppend(event);
    event.context.isLeftBy(event);
    event.lastBefore = null;
    for (let at = event.entered; at !== null; at = at.earlier) at.context.isLeftBy(event);
    event.entered = null;
  }

  #wake(event: CoreEvent<P>): void {
    const last = event.lastWaiter;
    if (last === null) return;
    event.lastWaiter = null;
    let next = last.after;
    last.after = null;
    while (next !== null) {
      const entry = next;
      next = entry.after;
      entry.after = null;
      if (entry.ofAttempt === entry.event.attempt) this.#attemptEnter(entry);
    }
  }

  #startAgain(restarted: CoreEvent<P>[]): void {
    for (const each of restarted) this.#ready.undo = added(this.#ready.undo, each);
    for (const each of restarted.reverse()) {
      if (each.outcome === null) continue;
      each.outcome = null;
      this.#unfinished += 1;
    }
    // In ticket order, so that an event that goes first is not in a later one's queue.
    for (const each of restarted) {
      for (const view of each.views ?? []) {
        for (const seen of view.seen ?? NONE) this.#depend(each, seen);
      }
      this.#begin(each);
    }
  }
}
