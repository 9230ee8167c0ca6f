import { carryOut, type Duties } from "../../core/carry-out.js";
import { type CommitOrder, Core } from "../../core/core.js";
import type { Outcome } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import { startsEvents } from "../../core/ready.js";
import type { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import { Slot, type Unmade } from "../context/index.js";
import type { Effect, EventRequest, NodeEvent } from "../event/index.js";
import type { Limits, Ports } from "../ports/index.js";
import type { Ledger } from "../store/index.js";
import { givenUp } from "./given-up.js";
import { isFull, whyNot } from "./refusals.js";
import type { Runner } from "./runner.js";
import { Unrecorded } from "./unrecorded.js";

export interface SchedulerOptions {
  readonly commitOrder: CommitOrder;
  readonly limits: Limits;
  readonly marks?: Marks | undefined;
  readonly plant?: Plant | undefined;
  readonly ledger?: Ledger | null;
  /** What drops contexts that do not exist, if their states are here and in no journal. */
  readonly unmade?: Unmade | null;
}

/** What running events needs of the program. */
export interface Around {
  /** The roots of all logical nodes, by their names. */
  readonly roots: ReadonlyMap<string, Slot>;
  /** The root of another logical node. */
  peer(cls: ContextClass, name: string | undefined): Slot;
  /** How many messages to another logical node are still on their way. */
  backlog(from: string, to: string): number;
  /** How many outside calls have no result yet. */
  readonly outsideCalls: number;
  /** The journal takes no more: nothing can commit. */
  journalFailed(error: HeadwaterError): void;
  /** Something goes on that the program's owner should know of. */
  warn(warning: HeadwaterError): void;
}

/** What a logical node does for its core, and besides. */
export interface NodeDuties extends Duties<EventRequest> {
  /** Is there something to do that the core does not know of? */
  isDue(): boolean;
  /** All that there was to do at this moment is done. */
  rested(): void;
}

const ROUNDS_PER_PUMP = 64;

/**
 * The core of a logical node, and when it gets a turn. Requests and what comes of events go in here, from the logical node and
 * from what runs its events; what the core wants done is carried out once for all that came in one go.
 */
export class Scheduler {
  readonly core: Core<EventRequest>;
  readonly root: Slot;
  readonly limits: Limits;
  readonly marks: Marks | undefined;
  readonly plant: Plant | undefined;
  readonly ledger: Ledger | null;
  readonly #unrecorded = new Unrecorded();
  #duties: NodeDuties | null = null;
  #pumping = false;
  #scheduled = false;
  #halted: HeadwaterError | null = null;
  readonly #pumpSoon = () => {
    try {
      this.#pump();
    } catch (error) {
      this.ports.broken(error);
    }
  };

  constructor(
    readonly name: string,
    cls: ContextClass,
    readonly ports: Ports,
    readonly around: Around,
    options: SchedulerOptions,
  ) {
    this.ledger = options.ledger ?? null;
    this.root = new Slot(name, null, null, undefined, cls, this.ledger, options.unmade ?? null);
    this.limits = options.limits;
    this.marks = options.marks;
    this.plant = options.plant;
    this.core = new Core(options);
  }

  serve(duties: NodeDuties): void {
    this.#duties = duties;
  }

  /** Why nothing goes on any more; null while it does. */
  get halted(): HeadwaterError | null {
    return this.#halted;
  }

  halt(reason: HeadwaterError): void {
    this.#halted = reason;
  }

  get unfinished(): number {
    return this.core.unfinished;
  }

  get hasRoom(): boolean {
    return this.core.unfinished < this.limits.inFlight;
  }

  /** A request from outside. Requests that come in one turn have their tickets of the same moment. */
  submit(request: EventRequest): NodeEvent {
    if (!this.hasRoom) throw isFull(this);
    if (!this.#scheduled) this.tick();
    const event = this.core.request(request);
    this.wake();
    return event;
  }

  request(request: EventRequest): NodeEvent {
    this.tick();
    const event = this.core.request(request);
    this.wake();
    return event;
  }

  /** A message from another logical node. */
  deliver(from: string, sequence: number, request: EventRequest): void {
    this.tick();
    this.core.deliver(from, sequence, request);
    this.wake();
  }

  /** Lets an event into a context below, if it need not wait. */
  enterNow(event: NodeEvent, slot: Slot): boolean {
    return this.core.enterNow(event, slot.coreContext);
  }

  /** A call of an event wants to enter a context. */
  call(event: NodeEvent, slot: Slot, token: unknown, isWhole: boolean): void {
    this.core.call(event, slot.coreContext, token, isWhole);
    this.wake();
  }

  /** The event gives up a context. */
  release(event: NodeEvent, slot: Slot, changed: boolean): void {
    this.core.release(event, slot.coreContext, changed);
    this.wake();
  }

  retract(event: NodeEvent, done: () => void): void {
    this.core.retract(event);
    this.#undo();
    done();
  }

  finish(event: NodeEvent, outcome: Outcome<EventRequest>): void {
    this.core.finish(event, outcome);
    if (outcome.failed) this.#undo();
    else this.wake();
  }

  /** These attempts are lost: their events start again, and so do events that have seen state of them. */
  lose(events: NodeEvent[]): void {
    this.core.lose(events);
    this.#undo();
  }

  /** The journal has these events. */
  journaled(first: NodeEvent): void {
    if (startsEvents(first)) this.tick();
    this.core.journaled(first);
    this.wake();
  }

  /** At once, so that no code of an attempt that was rolled back is taken for the next one's. */
  #undo(): void {
    for (const event of this.core.takeRollbacks()) event.payload.execution?.rollBack();
    this.wake();
  }

  /** May the event go on? If it is held back because earlier processes have ended at it, `runner` goes on with it later. */
  admits(event: NodeEvent, attempt: number, token: unknown, runner: Runner): boolean {
    if (event.attempt !== attempt || this.#halted !== null) return false;
    if (token !== null) return true;
    return !this.ledger?.careful?.holds(event, () => runner.go(event, attempt, null));
  }

  /** Nothing survives the event, whatever runs it: it fails, and is parked if no caller can ask for it again. */
  giveUp(event: NodeEvent, fail: (error: HeadwaterError) => void): void {
    const full = this.ledger?.parked.takeIn(event) ?? null;
    if (full !== null) return this.around.journalFailed(full);
    const { isParked = false } = event.payload.record ?? {};
    this.marks?.hit(isParked ? "an event was parked" : "a request was given up that ended its hosts");
    fail(givenUp(event));
  }

  /** Why these effects cannot be taken on at the moment, if so. */
  refuse(effects: readonly Effect[]): HeadwaterError | null {
    return effects.length === 0 ? null : whyNot(effects, this, this.around);
  }

  /** Of an event that no caller outside asked for, something has become known. */
  remember(event: NodeEvent): void {
    const { kind } = event.payload.origin;
    if (this.ledger === null || kind === "request" || kind === "parked") return; // those are asked for again
    this.#unrecorded.add(event);
  }

  /** What has to be written of earlier events when these commit. */
  overtakenBy(events: readonly NodeEvent[]): NodeEvent[] {
    return this.#unrecorded.overtakenBy(events);
  }

  tick(): void {
    this.core.tick(this.ports.timeOfDay(), Math.ceil(this.ports.now()));
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#scheduled || this.#pumping) return;
    this.#scheduled = true;
    this.ports.soon(this.#pumpSoon);
  }

  #pump(): void {
    this.#scheduled = false;
    const duties = this.#duties;
    if (this.#halted !== null || duties === null) return;
    this.#pumping = true;
    // Events may start events without end: now and then, other code must get a turn.
    for (let rounds = 0; rounds < ROUNDS_PER_PUMP && this.#hasWork(duties) && !this.#halted; rounds++)
      carryOut(this.core.ready(), duties);
    this.#pumping = false;
    if (this.#hasWork(duties)) this.wake();
    duties.rested();
  }

  #hasWork(duties: NodeDuties): boolean {
    return this.core.hasWork || duties.isDue();
  }
}
