import type { Message, Ticket } from "../../core/event.js";
import { allAlong, type Send } from "../../core/ready.js";
import { type HeadwaterError, invariant } from "../../errors.js";
import type { OutsideResult } from "../../model/outside.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import type { NodeEvent, RelayedNumber } from "../event/index.js";
import {
  answerSettled,
  type Effect,
  EventRequest,
  type MessageBody,
  type NodeMessage,
  type Origin,
  timerOrigin,
  type WaitingCaller,
} from "../event/index.js";
import type { Runner, Scheduler } from "../runner/index.js";
import type { Ledger } from "../store/index.js";
import { NOTHING_TAKEN, type TakenWith } from "./incoming-messages.js";
import type { PendingCall } from "./outside-calls.js";
import { inTicketOrder, storedTimers, unfinishedBusiness } from "./recovery.js";
import type { Surroundings } from "./surroundings.js";
import { type Timer, Timers } from "./timers.js";
import type { Tracing } from "./tracing.js";

const REQUESTED: Origin = { kind: "request" };

/**
 * A logical node: carries out what its core wants done. What runs its events, and where, is its runner's business; here they
 * are appended to the journal, and what came of them is told.
 */
export class LogicalNode {
  readonly timers: Timers;
  readonly #scheduler: Scheduler;
  readonly #runner: Runner;
  readonly #around: Surroundings;
  readonly #ledger: Ledger | null;
  #tracing: Tracing | null = null;

  constructor(scheduler: Scheduler, runner: Runner, around: Surroundings) {
    this.#scheduler = scheduler;
    this.#runner = runner;
    this.#around = around;
    this.#ledger = scheduler.ledger;
    const stored = this.#ledger === null ? null : storedTimers(this.#ledger, this.root, around);
    const begin = (timer: Timer) => this.begin(timer.slot, timer.method, timer.args, timerOrigin(timer));
    this.timers = new Timers(scheduler, scheduler.ports, begin, stored);
    scheduler.serve({
      ticketed: (event) => scheduler.remember(event),
      append: (first) => {
        if (first !== null) this.#append(first);
        runner.goOn(); // now nothing is appended that has not been sent after its context
      },
      see: ({ event, context }) => this.#see(event, context),
      enter: (entry) => {
        if (entry.token === null) this.#tracing?.begun(entry.event);
        runner.enter(entry);
      },
      settle: (event) => this.#settle(event),
      send: (send) => this.#send(send),
      isDue: () => runner.isDue,
      rested: () => {
        this.#tracing?.heard(scheduler.core);
        around.rested();
      },
    });
  }

  /** What becomes of events is noted there from now on, or not any more. */
  trace(tracing: Tracing | null): void {
    this.#tracing = tracing;
    const { core } = this.#scheduler;
    core.notes = null;
    tracing?.begin(core);
  }

  get name(): string {
    return this.#scheduler.name;
  }

  get root(): Slot {
    return this.#scheduler.root;
  }

  get unfinished(): number {
    return this.#scheduler.unfinished;
  }

  get hasRoom(): boolean {
    return this.#scheduler.hasRoom;
  }

  get isQuiet(): boolean {
    return this.#scheduler.core.isQuiet;
  }

  /** A request from outside: one event. `args` belong to the event. */
  submit(
    slot: Slot,
    method: Method,
    args: unknown[],
    caller: string | undefined,
    waiting: WaitingCaller,
    request?: string | RelayedNumber,
  ): NodeEvent {
    return this.#scheduler.submit(new EventRequest(slot, method, args, caller, REQUESTED, waiting, request));
  }

  /** A message from another logical node. */
  receive(from: string, sequence: number, { slot, method, args, origin }: NodeMessage): void {
    if (this.#scheduler.halted !== null) return;
    const request = new EventRequest(slot, method, args, undefined, origin, null);
    this.#scheduler.deliver(from, sequence, request);
  }

  /** An event that no caller outside asked for. */
  begin(
    slot: Slot,
    method: Method,
    args: unknown[],
    origin: Origin,
    waiting: WaitingCaller | null = null,
  ): void {
    const request = new EventRequest(slot, method, args, undefined, origin, waiting);
    this.#scheduler.remember(this.#scheduler.request(request));
  }

  /** Takes what came of an outside call. */
  outsideCallDone({ slot, method, args, parent, index }: PendingCall, result: OutsideResult<unknown>): void {
    if (this.#scheduler.halted !== null) return;
    if (method === null) return this.#ledger?.forgetCall(this.name, parent as Ticket, index);
    this.begin(slot, method, [result, ...args], { kind: "outside", parent: parent as Ticket, index });
  }

  /** The events that are not settled yet, in ticket order. */
  unsettled(): Iterable<NodeEvent> {
    return this.#scheduler.core.unsettled();
  }

  /** Does anybody outside still wait for an answer? */
  get isAwaited(): boolean {
    if (this.#scheduler.halted !== null) return false;
    return [...this.unsettled()].some(({ payload }) => payload.waiting !== null);
  }

  /** Stops here: nothing that waits goes ahead any more. */
  halt(reason: HeadwaterError): void {
    this.#scheduler.halt(reason);
    answerSettled(this.#scheduler.core.ready()); // the journal has them, though nothing goes on after them
    this.#runner.halt(reason);
    for (const { payload } of this.unsettled()) payload.waiting?.reject(reason);
    this.timers.disarmAll();
  }

  /** Goes on from the journal. `sent` are messages of committed events that may not have left, by ticket. */
  recover(ledger: Ledger, sent: ReadonlyMap<number, readonly Message[]>): void {
    const scheduler = this.#scheduler;
    const { ticketed, started, timers, calls } = unfinishedBusiness(ledger, this.root);
    if (ticketed.length > 0) scheduler.marks?.hit("an event kept its ticket over a crash");
    scheduler.core.recover(ledger.lastTicket(this.name), inTicketOrder(ticketed, sent));
    scheduler.tick();
    this.timers.recover(timers);
    for (const call of calls) this.#around.callOutside(call);
    for (const request of started) scheduler.remember(scheduler.core.request(request));
    scheduler.wake();
  }

  #see(event: NodeEvent, context: object): void {
    this.#scheduler.remember(event);
    let slot: Slot | null = event.payload.slot;
    while (slot !== null && slot.coreContext !== context) slot = slot.parent;
    invariant(slot !== null, "a view is of a context above its event");
    this.#runner.see(event, slot);
  }

  #append(first: NodeEvent): void {
    const scheduler = this.#scheduler;
    let taken: TakenWith = NOTHING_TAKEN;
    const done = (error: HeadwaterError | null) => {
      if (scheduler.halted !== null) return;
      if (error !== null) return this.#around.journalFailed(error);
      taken.safe();
      this.#tracing?.journaled(first, this.#ledger !== null);
      scheduler.journaled(first);
    };
    this.#tracing?.appended(first);
    this.#runner.appending(first);
    if (this.#ledger === null) return scheduler.ports.append(() => done(null));
    const events = allAlong(first);
    const open = scheduler.overtakenBy(events);
    taken = this.#around.takenWith(events, open);
    this.#ledger.append(this.name, events, open, taken.writes, done);
  }

  #settle(event: NodeEvent): void {
    const { execution, waiting, origin } = event.payload;
    invariant(execution?.isDead, "only an event that has ended can be settled");
    const { ok, value, effects } = execution;
    this.#tracing?.heard(this.#scheduler.core);
    this.#tracing?.settled(event); // before what it has asked for is carried out, which may belong to the same trace
    for (let i = 0; i < effects.length; i++) this.#doEffect(effects[i] as Effect, event.ticket, i);
    if (origin.kind === "timer") this.timers.settled(origin.id);
    this.#around.settled?.(event);
    this.#ledger?.careful?.settled(event);
    this.#around.reads.settled(event);
    event.payload.answer();
    if (!ok && waiting?.isLocal !== true) this.#around.failed(event.payload, value);
  }

  #doEffect(effect: Effect, parent: Ticket, index: number): void {
    if (effect.kind === "outside") this.#around.callOutside({ ...effect, parent, index });
    else if (effect.kind === "timer") this.timers.arm(effect);
    else if (effect.kind === "cancel") this.timers.disarm(effect.id);
  }

  #send({ ticket, sequence, body }: Send): void {
    const out = body as MessageBody;
    if (out.kind === "client") {
      this.#around.tell(out.client, out.message, { node: this.name, ticket, index: out.index });
    } else if (out.kind === "elsewhere") this.#around.deliverElsewhere(this.name, out.to, out.position);
    else this.#around.deliver(this.name, sequence, out.message);
  }
}
