import type { Outcome } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { HeadwaterError } from "../../errors.js";
import type { Write } from "../../journal/journal.js";
import type { ContextClass } from "../../model/context.js";
import { rootNamed } from "../../model/current.js";
import { pathOf } from "../../model/path.js";
import { isUnmade, type State } from "../../state/fields.js";
import { decodeState, Slot, Unmade } from "../context/index.js";
import {
  ByTicket,
  type Effect,
  EventRequest,
  type Execution,
  Frame,
  type Guest,
  Rest,
  type RunningEvent,
  type Supervisor,
} from "../event/index.js";
import type { Limits } from "../ports/index.js";
import {
  type AboveOnWire,
  type AttemptId,
  at,
  type EventHeader,
  failedEnd,
  found,
  type ToHost,
  tooLarge,
  unwired,
  unwireEffect,
  type WireOutcome,
  wired,
  wireEffect,
} from "../wire/index.js";
import { ContextTransfers } from "./context-transfers.js";
import { callersFromWire, statesOf, stateToSee, writesOf } from "./entered-states.js";
import { OnHost } from "./on-host.js";
import { ResidentContexts } from "./resident-contexts.js";
import type { SiteOptions, SitePorts } from "./site-ports.js";

/** The part of a program that runs on one host: the contexts that are placed there, and the events that are in them. */
export class HostSite implements Supervisor {
  readonly limits: Limits;
  readonly marks: Marks | undefined;
  readonly roots = new Map<string, Slot>();
  readonly #ports: SitePorts;
  readonly #isDurable: boolean;
  /** By logical node and ticket. */
  readonly #events = new Map<string, ByTicket<OnHost>>();
  /** States that the journal has, or will have when the events that made them commit. */
  readonly #kept = new WeakSet<State>();
  readonly #copies: ContextTransfers;
  readonly rest: Rest;
  readonly keepsStates = true;
  #lastAsk = 0;

  constructor(classes: Readonly<Record<string, ContextClass>>, ports: SitePorts, options: SiteOptions) {
    this.#ports = ports;
    this.rest = new Rest(ports);
    this.limits = options.limits;
    this.marks = options.marks;
    this.#isDurable = options.isDurable;
    const held = options.isDurable ? new ResidentContexts() : null;
    const unmade = options.isDurable ? null : new Unmade(options.unmadeInMemory);
    this.#copies = new ContextTransfers(
      this.roots,
      (message) => ports.send(message),
      this.#kept,
      options.limits.pieceBytes,
      held,
      options.plant,
    );
    for (const [name, cls] of Object.entries(classes)) {
      this.roots.set(name, new Slot(name, null, null, undefined, cls, held, unmade));
      this.#events.set(name, new ByTicket());
    }
  }

  receive(message: ToHost): void {
    switch (message.kind) {
      case "run": {
        const joined = this.#join(message);
        const before = message.after === null ? undefined : this.#events.get(joined.node)?.get(message.after);
        if (before === undefined) return this.#start(joined); // one that is over is not known any more
        joined.isWaiting = true;
        before.next = joined;
        return;
      }
      case "call": {
        const joined = this.#known(message) ?? this.#join(message.header);
        return this.#run(() => this.#call(joined, message));
      }
      case "view":
        return this.#view(message);
      case "copyContexts":
      case "nextPiece":
      case "stagePiece":
      case "install":
      case "dropCopy":
      case "load":
      case "handOver":
      case "evict":
        return this.#copies.receive(message);
      default:
    }
    const known = this.#known(message);
    if (known === undefined) return;
    switch (message.kind) {
      case "enter":
        return this.#run(() => this.#continue(known, message));
      case "refused":
        return this.#answer(known, message.ask)?.refuse(unwired(message.error) as HeadwaterError);
      case "returned": {
        const { ok, call } = message;
        const effects = message.effects.map((effect) => unwireEffect(effect, message.node, this.roots));
        const doom = message.doom === null ? null : (unwired(message.doom) as HeadwaterError);
        return this.#answer(known, message.ask)?.returned({
          call,
          ok,
          value: unwired(message.value),
          doom,
          effects,
        });
      }
      case "rollbackCalls":
        return this.#rollBackCalls(known, message.calls, () => {
          const entered = statesOf(known.execution);
          const done = { ask: message.ask, writes: this.#writesOf(known), existing: known.existing, entered };
          this.#ports.send({ ...known.attemptId, kind: "callsRolledBack", ...done });
        });
      case "retracted":
      case "callsRolledBack": {
        const goOn = known.rollbacks?.get(message.ask);
        known.rollbacks?.delete(message.ask);
        return known.execution.isDead ? undefined : goOn?.();
      }
      case "start":
        this.marks?.hit("a pipelined event waited for the head");
        known.isAlone = message.isAlone;
        return this.#start(known);
      case "abandon":
        return known.giveUp(message.ms);
      case "publish":
        return known.execution.endedElsewhere();
      case "forget":
        known.execution.leave();
        return this.#forget(known);
      case "rollback":
        known.execution.rollBack();
        return this.#forget(known);
    }
  }

  #start(event: OnHost): void {
    event.isWaiting = false;
    this.#run(() => this.#begin(event));
  }

  #begin(event: OnHost): void {
    if (event.execution.isDead) return;
    this.#ports.begins?.(event);
    event.execution.start();
  }

  #run(task: () => void): void {
    if (this.#ports.run === undefined) return task();
    this.#ports.run(task);
  }

  /** Takes part in an event. */
  #join(header: EventHeader): OnHost {
    const { slot, method, args, caller, origin, seen } = header;
    const request = new EventRequest(slot, method, args, caller ?? undefined, origin, null);
    for (const [path, bytes] of seen) {
      const above = at(slot.node, path, this.roots);
      request.seen ??= new Map();
      request.seen.set(above, bytes === null ? null : decodeState(above, bytes));
    }
    const joined = new OnHost(this, header, request);
    this.#events.get(slot.node)?.set(header.ticket, joined);
    return joined;
  }

  #known({ node, ticket, attempt }: AttemptId): OnHost | undefined {
    const known = this.#events.get(node)?.get(ticket);
    return known?.attempt === attempt ? known : undefined;
  }

  #forget({ node, ticket }: OnHost): void {
    this.#events.get(node)?.delete(ticket);
  }

  #continue(known: OnHost, message: Extract<ToHost, { kind: "enter" }>): void {
    const frame = this.#answer(known, message.ask);
    if (frame === undefined) return;
    this.#lookAbove(known.execution, frame.slot, message);
    frame.run();
  }

  #lookAbove(execution: Execution, slot: Slot, { held, seen }: AboveOnWire): void {
    const holds = new Set(held.map((path) => at(slot.node, path, this.roots)));
    for (let above = slot.parent; above !== null; above = above.parent) {
      execution.holdsElsewhere(above, holds.has(above));
    }
    for (const [path, bytes] of seen) {
      const above = at(slot.node, path, this.roots);
      execution.leftElsewhere(above, decodeState(above, bytes));
    }
  }

  #answer(known: OnHost, ask: number): Frame | undefined {
    const frame = known.asks?.get(ask);
    known.asks?.delete(ask);
    return known.execution.isDead ? undefined : frame;
  }

  /** A call of another host. */
  #call(known: OnHost, message: Extract<ToHost, { kind: "call" }>): void {
    const { asked, call, node } = message;
    const { execution } = known;
    if (execution.isDead) return;
    const { slot, method } = found(node, asked.path, asked.method, this.roots);
    this.#lookAbove(execution, slot, message);
    const guest: Guest = {
      positions: asked.positions,
      call,
      above: callersFromWire(asked.callers, node, this.roots),
      leave: (frame, ok, value, doom, done) => {
        if (ok) {
          known.guests ??= new Map();
          known.guests.set(call, done);
        }
        const effects = ok ? (frame.effects?.flatten() ?? []) : [];
        const end = this.#ended(known, ok, value, effects);
        const isSent = this.#ports.send({
          kind: "return",
          node,
          ticket: known.ticket,
          attempt: known.attempt,
          call,
          doom: doom === null ? null : wired(doom),
          entered: statesOf(execution),
          ok,
          value: end.value,
          effects: end.effects,
          writes: end.writes,
          existing: end.existing,
        });
        if (isSent) return;
        const failed = failedEnd(tooLarge("the outcome", slot, method, this.limits.messageBytes));
        this.#ports.send({
          ...known.attemptId,
          kind: "return",
          call,
          doom: failed.value,
          entered: [],
          ...failed,
        });
      },
    };
    new Frame(execution, null, slot, method, asked.args, null, guest).run();
  }

  #ended(known: OnHost, ok: boolean, value: unknown, effects: readonly Effect[]): WireOutcome {
    const wireEffects = effects.length === 0 ? NONE : effects.map(wireEffect);
    const [writes, { existing }] = [this.#writesOf(known), known];
    return { ok, value: wired(value), effects: wireEffects, writes, existing };
  }

  /** What the journal is to have of the contexts that the event has changed here. */
  #writesOf({ execution }: OnHost): readonly Write[] {
    return this.#isDurable ? writesOf(execution, this.#kept) : NONE;
  }

  /** The journal has nothing of a context that was deleted. */
  #keep(state: State): void {
    if (!isUnmade(state)) this.#kept.add(state);
  }

  #rollBackCalls(known: OnHost, calls: readonly number[], done: () => void): void {
    const undone = calls.flatMap((call) => known.guests?.get(call)?.undo ?? []);
    const elsewhere = calls.flatMap((call) => known.guests?.get(call)?.elsewhere ?? []);
    for (const call of calls) known.guests?.delete(call);
    known.execution.rollBackCalls(undone, () => {
      if (elsewhere.length === 0) done();
      else this.rollBackElsewhere(known, elsewhere, done);
    });
  }

  #view({ node, ticket, attempt, path, look }: Extract<ToHost, { kind: "view" }>): void {
    const slot = at(node, path, this.roots);
    this.#ports.send({ kind: "viewed", node, ticket, attempt, path, look, state: stateToSee(slot) });
  }

  call(execution: Execution, frame: Frame): void {
    const event = this.#shared(execution.event);
    this.#lastAsk += 1;
    const ask = this.#lastAsk;
    event.asks ??= new Map();
    event.asks.set(ask, frame);
    if (this.#ports.send(event.askFor(frame, ask))) return;
    const error = tooLarge("the arguments", frame.slot, frame.method, this.limits.messageBytes);
    this.#ports.soon(() => {
      this.#answer(event, ask)?.returned({ call: 0, ok: false, value: error, doom: error, effects: NONE });
    });
  }

  /** The head, and perhaps others, will have to do with what the event does. */
  #shared(event: RunningEvent): OnHost {
    const own = event as OnHost;
    own.isAlone = false;
    return own;
  }

  runSoon(execution: Execution, frame: Frame): void {
    // The head knows what has become of contexts in between, if they are on other hosts.
    for (let at = frame.slot.parent; at !== null && at !== frame.outer?.slot; at = at.parent)
      if (!execution.hasEntered(at)) return this.call(execution, frame);
    this.#ports.soon(() => this.#run(() => frame.run()));
  }

  startAgain(event: RunningEvent): void {
    this.#ports.send({ ...this.#shared(event).attemptId, kind: "restart" });
  }

  release(event: RunningEvent, slot: Slot, changed: boolean): void {
    if (changed && this.#isDurable) this.#keep(slot.state); // events that go on from it commit after this event
    this.#ports.send({ ...this.#shared(event).attemptId, kind: "release", path: pathOf(slot), changed });
  }

  retract(event: RunningEvent, done: () => void): void {
    const own = this.#shared(event);
    this.#ports.send({ ...own.attemptId, kind: "retract", ask: this.#await(own, done) });
  }

  rollBackElsewhere(event: RunningEvent, calls: readonly number[], done: () => void): void {
    const own = this.#shared(event);
    this.#ports.send({ ...own.attemptId, kind: "rollbackCalls", calls, ask: this.#await(own, done) });
  }

  /** A number under which the head will say that it is done. */
  #await(event: OnHost, done: () => void): number {
    this.#lastAsk += 1;
    event.rollbacks ??= new Map();
    event.rollbacks.set(this.#lastAsk, done);
    return this.#lastAsk;
  }

  finish(event: RunningEvent, _outcome: Outcome<EventRequest>): void {
    const own = event as OnHost;
    const { execution, ticket, attempt } = own;
    const { ok, value, effects } = execution;
    const isOver = own.isAlone && effects.length === 0; // the head may refuse effects
    const end = this.#ended(own, ok, value, effects);
    const isSent = this.#ports.send({
      kind: "finish",
      node: own.node,
      ticket,
      attempt,
      isOver,
      ok,
      value: end.value,
      effects: end.effects,
      writes: end.writes,
      existing: end.existing.length === 0 ? NONE : end.existing.filter(([, , isChanged]) => isChanged),
    });
    if (!isSent) {
      const { slot, method } = own.payload;
      const failed = failedEnd(tooLarge("the outcome", slot, method, this.limits.messageBytes));
      this.#ports.send({ ...own.attemptId, kind: "finish", isOver, ...failed });
    }
    if (!isOver) return;
    this.marks?.hit("a host forgot an event by itself");
    if (ok && isSent) execution.leave();
    else execution.rollBack();
    this.#forget(own);
    const { next } = own;
    if (next === null || next.execution.isDead || !next.isWaiting) return;
    this.marks?.hit("a host started a pipelined event by itself");
    this.#start(next);
  }

  /** The head looks at its limits. */
  refuse(): HeadwaterError | null {
    return null;
  }

  peer(cls: ContextClass, name: string | undefined): Slot {
    return rootNamed(this.roots, cls, name);
  }

  broken(error: unknown): void {
    this.#ports.broken(error);
  }
}

const NONE: readonly never[] = [];
