import { Core } from "../../core/core.js";
import type { CoreEvent, Message, Outcome, Ticket, Wish } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import { allAlong, startsEvents } from "../../core/ready.js";
import { type HeadwaterError, invariant } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import type { OutsideResult } from "../../model/outside.js";
import type { Method } from "../../model/shape.js";
import { Slot, stateOrNull } from "../context/index.js";
import {
  answerSettled,
  type Effect,
  EventRequest,
  Execution,
  endsItsHosts,
  type Frame,
  type NodeMessage,
  type Origin,
  Rest,
  type RunningEvent,
  type Supervisor,
  timerOrigin,
  type Waiting,
} from "../event/index.js";
import { letIn, type Move, type Moving, moveRequest, Remote, type RemoteCall } from "../head/index.js";
import type { Limits, Ports } from "../ports/index.js";
import type { Ledger } from "../store/index.js";
import type { ToHead } from "../wire/index.js";
import { givenUp } from "./given-up.js";
import type { PendingCall } from "./outside-calls.js";
import { inTicketOrder, storedTimers, unfinishedBusiness } from "./recovery.js";
import { hasTooManyMoves, isFull, whyNot } from "./refusals.js";
import { carryOut, send } from "./settling.js";
import type { NodeOptions, Surroundings } from "./surroundings.js";
import { type Timer, Timers } from "./timers.js";
import type { Tracing } from "./tracing.js";
import { Unrecorded } from "./unrecorded.js";

const ROUNDS_PER_PUMP = 64;
const REQUESTED: Origin = { kind: "request" };

/** A logical node on one host: carries out what its core wants done, and feeds back what came of it. */
export class LogicalNode implements Supervisor {
  readonly root: Slot;
  readonly limits: Limits;
  readonly marks: Marks | undefined;
  readonly plant: Plant | undefined;
  readonly #core: Core<EventRequest>;
  readonly #ports: Ports;
  readonly #around: Surroundings;
  readonly #ledger: Ledger | null;
  readonly rest: Rest;
  readonly keepsStates = false;
  readonly #unrecorded = new Unrecorded();
  readonly timers: Timers;
  /** Runs events on other hosts, if there are any. */
  readonly #remote: Remote | null;
  #tracing: Tracing | null = null;
  #pumping = false;
  #scheduled = false;
  /** Why nothing goes on any more. */
  #halted: HeadwaterError | null = null;
  readonly #pumpSoon = () => {
    try {
      this.#pump();
    } catch (error) {
      this.#ports.broken(error);
    }
  };

  constructor(
    readonly name: string,
    cls: ContextClass,
    ports: Ports,
    around: Surroundings,
    options: NodeOptions,
  ) {
    this.#ledger = options.ledger ?? null;
    this.root = new Slot(name, null, null, undefined, cls, this.#ledger);
    this.limits = options.limits;
    this.marks = options.marks;
    this.plant = options.plant;
    this.#ports = ports;
    this.rest = new Rest(ports);
    this.#around = around;
    const stored = this.#ledger === null ? null : storedTimers(this.#ledger, this.root, around);
    const begin = (timer: Timer) => this.begin(timer.slot, timer.method, timer.args, timerOrigin(timer));
    this.timers = new Timers(this, ports, begin, stored);
    this.#core = new Core(options);
    const { hosts } = options;
    this.#remote = hosts ? new Remote(this, this.#core, around.roots, hosts, this.#ledger, ports) : null;
  }

  /** What becomes of events is noted there from now on, or not any more. */
  trace(tracing: Tracing | null): void {
    this.#tracing = tracing;
    this.#core.waits = tracing?.wantsWaits ? [] : null;
  }

  get unfinished(): number {
    return this.#core.unfinished;
  }

  get hasRoom(): boolean {
    return this.#core.unfinished < this.limits.inFlight;
  }

  get isQuiet(): boolean {
    return this.#core.isQuiet;
  }

  /** A request from outside: one event. `args` belong to the event. */
  submit(
    slot: Slot,
    method: Method,
    args: unknown[],
    caller: string | undefined,
    waiting: Waiting,
    request?: string,
  ): CoreEvent<EventRequest> {
    if (!this.hasRoom) throw isFull(this);
    if (!this.#scheduled) this.#tick(); // once for all requests that come in one go
    const asked = new EventRequest(slot, method, args, caller, REQUESTED, waiting, request);
    const event = this.#core.request(asked);
    this.#schedule();
    return event;
  }

  /** A message from another logical node. */
  receive(from: string, sequence: number, { slot, method, args, origin }: NodeMessage): void {
    if (this.#halted) return;
    this.#tick();
    this.#core.deliver(from, sequence, new EventRequest(slot, method, args, undefined, origin, null));
    this.#schedule();
  }

  /** What runs events on other hosts, while anything runs. */
  get remote(): Remote | null {
    return this.#halted ? null : this.#remote;
  }

  warn(warning: HeadwaterError): void {
    this.#around.warn(warning);
  }

  /** A host is gone. `culprit`: the ticket of the event that ended it, 0 if that is none here, null if it is not known. */
  hostLost(host: number, culprit: number | null, why: string): void {
    if (this.#halted || this.#remote === null) return;
    this.#remote.moves.hostLost(host);
    this.#core.lose(this.#remote.inLimbo(host, culprit, why));
    this.#undo();
    this.#remote.views.lookAgain(host);
  }

  /** A host is gone that had no state: only the events that ran there are lost. */
  eventsLost(host: number, error: HeadwaterError): void {
    if (this.#halted || this.#remote === null) return;
    this.#remote.moves.hostLost(host);
    this.#remote.failOn(host, error);
    this.#remote.views.lookAgain(host);
  }

  /** Moves a context, and what comes along, to another host. */
  move(slot: Slot, move: Move, waiting: Waiting): void {
    const moves = this.#remote?.moves;
    const open = moves?.open ?? 0;
    if (this.#halted !== null) waiting.reject(this.#halted);
    else if (open >= this.limits.inFlight) waiting.reject(hasTooManyMoves(this, open));
    else moves?.start(slot, move, waiting);
  }

  /** The contexts of a move were copied. */
  requestMove(move: Moving, waiting: Waiting): void {
    this.#tick();
    this.#core.request(moveRequest(move, waiting));
    this.#schedule();
  }

  /** A host says something about an event. */
  heard(host: number, message: ToHead): void {
    if (this.#halted) return;
    this.#remote?.receive(host, message);
    this.#schedule();
  }

  /** The events that are not settled yet, in ticket order. */
  unsettled(): Iterable<CoreEvent<EventRequest>> {
    return this.#core.unsettled();
  }

  /** Does anybody outside still wait for an answer? */
  get isAwaited(): boolean {
    if (this.#halted !== null) return false;
    return [...this.#core.unsettled()].some(({ payload }) => payload.waiting !== null);
  }

  /** Stops here: nothing that waits goes ahead any more. */
  halt(reason: HeadwaterError): void {
    this.#halted = reason;
    answerSettled(this.#core.ready()); // the journal has them, though nothing goes on after them
    this.#remote?.moves.halt(reason);
    for (const { payload } of this.#core.unsettled()) payload.waiting?.reject(reason);
    this.timers.disarmAll();
  }

  peer(cls: ContextClass, name: string | undefined): Slot {
    return this.#around.peer(cls, name);
  }

  broken(error: unknown): void {
    this.#ports.broken(error);
  }

  call(execution: Execution, frame: Frame): void {
    this.#core.call(execution.event as CoreEvent<EventRequest>, frame.slot.place, frame, frame.isWhole);
    this.#schedule();
  }

  /** Runs a call in a context that its event is in already. */
  runSoon(_: Execution, frame: Frame): void {
    const goOn = () => this.#halted ?? frame.run();
    this.#ports.soon(() => (this.#ports.run === undefined ? goOn() : this.#ports.run(goOn)));
  }

  release(event: RunningEvent, slot: Slot, changed: boolean): void {
    this.#core.release(event as CoreEvent<EventRequest>, slot.place, changed);
    this.#schedule();
  }

  startAgain(event: RunningEvent): void {
    this.#core.lose([event as CoreEvent<EventRequest>]);
    this.#undo();
  }

  takeBackElsewhere(_event: RunningEvent, _calls: readonly number[], done: () => void): void {
    done();
  }

  retract(event: RunningEvent, done: () => void): void {
    this.#core.retract(event as CoreEvent<EventRequest>);
    this.#undo();
    done();
  }

  finish(event: RunningEvent, outcome: Outcome<EventRequest>): void {
    this.#core.finish(event as CoreEvent<EventRequest>, outcome);
    if (outcome.failed) this.#undo();
    else this.#schedule();
  }

  /** At once, so that no code of a try that was taken back is taken for the next one's. */
  #undo(): void {
    for (const event of this.#core.takeUndo()) event.payload.execution?.undo();
    this.#schedule();
  }

  /** Why these effects cannot be taken on at the moment, if so. */
  refuse(effects: readonly Effect[]): HeadwaterError | null {
    return effects.length === 0 ? null : whyNot(effects, this, this.#around);
  }

  #tick(): void {
    this.#core.tick(this.#ports.timeOfDay(), Math.ceil(this.#ports.now()));
  }

  #schedule(): void {
    if (this.#scheduled || this.#pumping) return;
    this.#scheduled = true;
    this.#ports.soon(this.#pumpSoon);
  }

  #pump(): void {
    this.#scheduled = false;
    if (this.#halted) return;
    this.#pumping = true;
    // Events may start events without end: now and then, somebody else must get a turn.
    for (let rounds = 0; rounds < ROUNDS_PER_PUMP && this.#hasWork && !this.#halted; rounds++) {
      const ready = this.#core.ready();
      for (const event of ready.ticketed) this.remember(event);
      if (ready.append !== null) this.#append(ready.append); // first: a host may have to load what they left
      this.#remote?.moves.goOn(); // now nothing is appended that has not been sent after its context
      for (const { event, place } of ready.views) this.#see(event, place);
      for (let wish = ready.nextToEnter(); wish !== null; wish = ready.nextToEnter()) this.#enter(wish);
      for (let event = ready.nextSettled(); event !== null; event = ready.nextSettled()) this.#settle(event);
      for (const each of ready.send) send(this.name, each, this.#around);
    }
    this.#pumping = false;
    this.#tracing?.waited(this.#core);
    if (this.#hasWork) this.#schedule();
    this.#around.rested();
  }

  get #hasWork(): boolean {
    return this.#core.hasWork || (this.#remote?.moves.areDue ?? false);
  }

  #see(event: CoreEvent<EventRequest>, place: object): void {
    const request = event.payload;
    this.remember(event);
    for (let slot: Slot | null = request.slot; slot !== null; slot = slot.parent) {
      if (slot.place !== place) continue;
      if (this.#remote !== null) return this.#remote.views.take(event, slot);
      request.seen ??= new Map();
      request.seen.set(slot, stateOrNull(slot));
    }
  }

  #enter({ event, ofAttempt, token }: Wish<EventRequest>): void {
    if (this.#remote !== null || this.#ports.run === undefined)
      return this.#go(event, ofAttempt, token as Frame | null);
    this.#ports.run(() => this.#go(event, ofAttempt, token as Frame | null));
  }

  #go(event: CoreEvent<EventRequest>, attempt: number, token: Frame | RemoteCall | null): void {
    if (event.attempt !== attempt || this.#halted !== null) return;
    if (token === null) this.#tracing?.begun(event);
    if (token === null && this.#ledger?.careful?.holds(event, () => this.#go(event, attempt, null))) return;
    if (this.#remote !== null) return this.#remote.go(event, token as RemoteCall | null);
    const frame = token as Frame | null;
    if (frame !== null) return letIn(frame, this.#ledger?.journal ?? null);
    const execution = new Execution(this, event);
    event.payload.execution = execution;
    if (endsItsHosts(event.payload)) this.giveUp(event, (error) => execution.giveUp(error));
    else execution.start();
  }

  /** Nothing survives the event, whatever runs it: it fails, and is parked if nobody can ask for it again. */
  giveUp(event: CoreEvent<EventRequest>, fail: (error: HeadwaterError) => void): void {
    const full = this.#ledger?.parked.takeIn(event) ?? null;
    if (full !== null) return this.#around.journalFailed(full);
    const { isParked = false } = event.payload.record ?? {};
    this.marks?.hit(isParked ? "an event was parked" : "a request was given up that ended its hosts");
    fail(givenUp(event));
  }

  #append(first: CoreEvent<EventRequest>): void {
    const done = (error: HeadwaterError | null) => {
      if (this.#halted) return;
      if (error !== null) return this.#around.journalFailed(error);
      if (startsEvents(first)) this.#tick();
      this.#tracing?.journaled(first, this.#ledger !== null);
      this.#core.journaled(first);
      this.#schedule();
    };
    this.#tracing?.appended(first);
    if (this.#remote !== null) for (const { payload } of allAlong(first)) payload.execution?.leave();
    if (this.#ledger === null) return this.#ports.append(() => done(null));
    const events = allAlong(first);
    this.#remote?.appended(events);
    this.#ledger.append(this.name, events, this.#unrecorded.overtakenBy(events), done);
  }

  /** Goes on from the journal. `sent` are messages of committed events that may not have left, by ticket. */
  recover(ledger: Ledger, sent: ReadonlyMap<number, readonly Message[]>): void {
    const { ticketed, started, timers, calls } = unfinishedBusiness(ledger, this.root);
    if (ticketed.length > 0) this.marks?.hit("an event kept its ticket over a crash");
    this.#core.recover(ledger.lastTicket(this.name), inTicketOrder(ticketed, sent));
    this.#tick();
    this.timers.recover(timers);
    for (const call of calls) this.#around.callOutside(call);
    for (const request of started) this.remember(this.#core.request(request));
    this.#schedule();
  }

  /** Of an event that nobody outside asked for, something has become known. */
  remember(event: CoreEvent<EventRequest>): void {
    const { kind } = event.payload.origin;
    if (this.#ledger === null || kind === "request" || kind === "parked") return; // those, somebody asks for again
    this.#unrecorded.add(event);
  }

  #settle(event: CoreEvent<EventRequest>): void {
    const { execution, waiting } = event.payload;
    invariant(execution?.isDead, "only an event that has ended can be settled");
    const { ok, value, effects } = execution;
    if (effects.length > 0) carryOut(effects, event.ticket, this.timers, this.#around);
    if (event.payload.origin.kind === "timer") this.timers.settled(event.payload.origin.id);
    this.#around.settled?.(event);
    this.#tracing?.settled(event);
    this.#ledger?.careful?.settled(event);
    event.payload.answer();
    if (!ok && waiting?.isLocal !== true) this.#around.failed(event.payload, value);
  }

  /** Takes what came of an outside call. */
  outsideCallDone({ slot, method, args, parent, index }: PendingCall, result: OutsideResult<unknown>): void {
    if (this.#halted) return;
    if (method === null) return this.#ledger?.forgetCall(this.name, parent as Ticket, index);
    this.begin(slot, method, [result, ...args], { kind: "outside", parent: parent as Ticket, index });
  }

  /** An event that nobody outside asked for. */
  begin(slot: Slot, method: Method, args: unknown[], origin: Origin, waiting: Waiting | null = null): void {
    this.#tick();
    this.remember(this.#core.request(new EventRequest(slot, method, args, undefined, origin, waiting)));
    this.#schedule();
  }
}
