import type { Outcome } from "../core/event.js";
import type { Marks } from "../core/marks.js";
import type { HeadwaterError } from "../errors.js";
import type { Write } from "../journal/journal.js";
import { MemoryJournal } from "../journal/memory.js";
import type { ContextClass } from "../model/context.js";
import { pathOf } from "../model/path.js";
import * as rules from "../model/rules.js";
import { isKindOf } from "../model/shape.js";
import type { State } from "../state/fields.js";
import type { Effect } from "./effects.js";
import { seenAbove, withState } from "./entered-states.js";
import { Execution } from "./execution.js";
import { Frame } from "./frame.js";
import type { Done, Guest } from "./guest.js";
import type { Change } from "./ledger.js";
import type { Limits } from "./limits.js";
import { EventRequest } from "./request.js";
import { Slot } from "./slot.js";
import { decodeState, encodeState, loadState, stateWrites, wholeState } from "./stored-state.js";
import type { RunningEvent, Supervisor } from "./supervisor.js";
import {
  type Above,
  at,
  type Ended,
  found,
  type Header,
  type Path,
  type ToHead,
  type ToHost,
  type Try,
  ticketOf,
  unwired,
  unwireEffect,
  wired,
  wireEffect,
} from "./wire.js";

export interface SitePorts {
  soon(task: () => void): void;
  run?(task: () => void): void;
  send(message: ToHead): void;
  broken(error: unknown): void;
}

export interface SiteOptions {
  readonly limits: Limits;
  readonly marks?: Marks | undefined;
  /** Are states to be written to a journal? */
  readonly isDurable: boolean;
}

interface OnHost {
  readonly execution: Execution;
  readonly event: RunningEvent;
  /** Calls that this host has asked for, by its own numbers. */
  asks: Map<number, Frame> | null;
  /** What calls of other hosts have done here, by the head's numbers. */
  guests: Map<number, Done> | null;
  takingBack: Map<number, () => void> | null;
}

/** The part of a program that runs on one host: the contexts that are placed there, and the events that are in them. */
export class Site implements Supervisor {
  readonly limits: Limits;
  readonly marks: Marks | undefined;
  readonly roots = new Map<string, Slot>();
  readonly #ports: SitePorts;
  readonly #isDurable: boolean;
  /** The events that take place here, too, by logical node and ticket. */
  readonly #events = new Map<string, Map<number, OnHost>>();
  /** States that the journal has, or will have when the events that made them commit. */
  readonly #kept = new WeakSet<State>();
  #lastAsk = 0;

  constructor(classes: Readonly<Record<string, ContextClass>>, ports: SitePorts, options: SiteOptions) {
    this.#ports = ports;
    this.limits = options.limits;
    this.marks = options.marks;
    this.#isDurable = options.isDurable;
    for (const [name, cls] of Object.entries(classes)) {
      this.roots.set(name, new Slot(name, null, null, undefined, cls));
      this.#events.set(name, new Map());
    }
  }

  receive(message: ToHost): void {
    switch (message.kind) {
      case "run": {
        const { execution } = this.#join(message);
        return this.#run(() => {
          if (!execution.isDead) execution.start();
        });
      }
      case "call": {
        const joined = this.#known(message.header) ?? this.#join(message.header);
        return this.#run(() => this.#call(joined, message));
      }
      case "view":
        return this.#view(message);
      case "take":
        return this.#take(message);
      case "give":
        return this.#give(message);
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
        this.#see(known.execution, message.node, message.entered);
        const doom = message.doom === null ? null : (unwired(message.doom) as HeadwaterError);
        return this.#answer(known, message.ask)?.returned({
          call,
          ok,
          value: unwired(message.value),
          doom,
          effects,
        });
      }
      case "takeBack":
        return this.#takeBack(known, message.calls, () => {
          const writes = this.#writesOf(known);
          this.#ports.send({ ...tryOf(known.event), kind: "tookBack", ask: message.ask, writes });
        });
      case "retracted":
      case "tookBack": {
        const goOn = known.takingBack?.get(message.ask);
        known.takingBack?.delete(message.ask);
        return known.execution.isDead ? undefined : goOn?.();
      }
      case "publish":
        known.execution.publish();
        known.execution.isDead = true;
        return;
      case "forget":
        known.execution.leave();
        return this.#forget(known);
      case "undo":
        known.execution.undo();
        return this.#forget(known);
    }
  }

  #run(task: () => void): void {
    if (this.#ports.run === undefined) task();
    else this.#ports.run(task);
  }

  /** Takes part in an event. */
  #join(header: Header): OnHost {
    const { node, ticket, attempt, time, path, method, args, caller, origin, seen } = header;
    const target = found(node, path, method, this.roots);
    const request = new EventRequest(target.slot, target.method, args, caller ?? undefined, origin, null);
    for (const [above, bytes] of seen) {
      const slot = at(node, above, this.roots);
      request.seen ??= new Map();
      request.seen.set(slot, bytes === null ? null : decodeState(slot, bytes));
    }
    const event: RunningEvent = { ticket: ticketOf(header), time, attempt, payload: request };
    const execution = new Execution(this, event);
    request.execution = execution;
    const joined: OnHost = { execution, event, asks: null, guests: null, takingBack: null };
    this.#events.get(node)?.set(ticket, joined);
    return joined;
  }

  #known({ node, ticket, attempt }: Try): OnHost | undefined {
    const known = this.#events.get(node)?.get(ticket);
    return known?.event.attempt === attempt ? known : undefined;
  }

  #forget({ event }: OnHost): void {
    this.#events.get(event.payload.slot.node)?.delete(event.ticket);
  }

  #continue(known: OnHost, message: Extract<ToHost, { kind: "enter" }>): void {
    const frame = this.#answer(known, message.ask);
    if (frame === undefined) return;
    this.#lookAbove(known.execution, frame.slot, message);
    frame.run();
  }

  #lookAbove(execution: Execution, slot: Slot, { held, seen }: Above): void {
    const holds = new Set(held.map((path) => at(slot.node, path, this.roots)));
    for (let above = slot.parent; above !== null; above = above.parent) {
      execution.holdsElsewhere(above, holds.has(above));
    }
    this.#see(execution, slot.node, seen);
  }

  #see(execution: Execution, node: string, seen: Above["seen"]): void {
    for (const [path, bytes] of seen) {
      const slot = at(node, path, this.roots);
      execution.leftElsewhere(slot, decodeState(slot, bytes));
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
    const { execution, event } = known;
    if (execution.isDead) return;
    const { slot, method } = found(node, asked.path, asked.method, this.roots);
    this.#lookAbove(execution, slot, message);
    const guest: Guest = {
      positions: asked.positions,
      leave: (frame, ok, value, doom, done) => {
        if (ok) {
          known.guests ??= new Map();
          known.guests.set(call, done);
        }
        const wiredDoom = doom === null ? null : wired(doom);
        const effects = ok ? (frame.effects?.flatten() ?? []) : [];
        this.#ports.send({
          ...tryOf(event),
          kind: "return",
          call,
          doom: wiredDoom,
          entered: execution.enteredHere().flatMap(withState),
          ...this.#ended(known, ok, value, effects),
        });
      },
    };
    new Frame(execution, null, slot, method, asked.args, 0, null, guest).run();
  }

  #ended(known: OnHost, ok: boolean, value: unknown, effects: readonly Effect[]): Ended {
    return { ok, value: wired(value), effects: effects.map(wireEffect), writes: this.#writesOf(known) };
  }

  /** What the journal is to have of the contexts that the event has changed here. */
  #writesOf({ execution }: OnHost): Write[] {
    const writes: Write[] = [];
    if (!this.#isDurable) return writes;
    const changes = new Map<Slot, Change>();
    execution.collectChanges(changes);
    for (const [slot, { before, after }] of changes) {
      stateWrites(slot, this.#kept.has(before) ? before : null, after, writes);
      this.#kept.add(after);
    }
    return writes;
  }

  #takeBack(known: OnHost, calls: readonly number[], done: () => void): void {
    const undone = calls.flatMap((call) => known.guests?.get(call)?.undo ?? []);
    const elsewhere = calls.flatMap((call) => known.guests?.get(call)?.elsewhere ?? []);
    for (const call of calls) known.guests?.delete(call);
    known.execution.takeBack(undone, () => {
      if (elsewhere.length === 0) done();
      else this.takeBackElsewhere(known.event, elsewhere, done);
    });
  }

  /** A context is on this host from now on. */
  #take({ node, path, writes }: Extract<ToHost, { kind: "take" }>): void {
    const journal = new MemoryJournal();
    journal.append(writes, () => {});
    const slot = at(node, path, this.roots);
    slot.comesWith(() => {
      const state = loadState(journal, slot);
      if (state !== null) this.#kept.add(state);
      return state;
    });
  }

  /** Contexts leave this host. The head has seen to it that no event is in them. */
  #give({ node, path, ask }: Extract<ToHost, { kind: "give" }>): void {
    const given: [Path, Write[]][] = [];
    const leave = (slot: Slot) => {
      if (slot.exists) {
        const writes: Write[] = [];
        wholeState(slot, writes);
        given.push([pathOf(slot), writes]);
        slot.letGo();
      }
      for (const child of slot.made()) leave(child);
    };
    leave(at(node, path, this.roots));
    if (!this.#isDurable) this.#ports.send({ kind: "given", node, ask, given });
  }

  #view({ node, ticket, attempt, path, look }: Extract<ToHost, { kind: "view" }>): void {
    const slot = at(node, path, this.roots);
    let state: Uint8Array | null = null;
    try {
      state = encodeState(slot, slot.state);
    } catch {
      // a context that cannot be made has no state
    }
    this.#ports.send({ kind: "viewed", node, ticket, attempt, path, look, state });
  }

  call(execution: Execution, frame: Frame): void {
    const known = this.#known(tryOf(execution.event));
    if (known === undefined) return;
    this.#lastAsk += 1;
    known.asks ??= new Map();
    known.asks.set(this.#lastAsk, frame);
    const { slot, method, args } = frame;
    this.#ports.send({
      ...tryOf(execution.event),
      kind: "ask",
      ask: this.#lastAsk,
      path: pathOf(slot),
      method: method.name,
      args,
      positions: frame.parent?.positions(frame.position) ?? [],
      seen: seenAbove(execution, slot),
    });
  }

  runSoon(execution: Execution, frame: Frame): void {
    this.#ports.soon(() =>
      this.#run(() => {
        if (!execution.isDead) frame.run();
      }),
    );
  }

  release(event: RunningEvent, slot: Slot, changed: boolean): void {
    if (changed && this.#isDurable) this.#kept.add(slot.state); // whoever goes on from it commits after this event
    this.#ports.send({ ...tryOf(event), kind: "release", path: pathOf(slot), changed });
  }

  retract(event: RunningEvent, done: () => void): void {
    this.#ports.send({ ...tryOf(event), kind: "retract", ask: this.#await(event, done) });
  }

  takeBackElsewhere(event: RunningEvent, calls: readonly number[], done: () => void): void {
    this.#ports.send({ ...tryOf(event), kind: "takeBack", calls, ask: this.#await(event, done) });
  }

  /** A number under which the head will say that it is done. */
  #await(event: RunningEvent, done: () => void): number {
    this.#lastAsk += 1;
    const known = this.#known(tryOf(event));
    if (known !== undefined) {
      known.takingBack ??= new Map();
      known.takingBack.set(this.#lastAsk, done);
    }
    return this.#lastAsk;
  }

  finish(event: RunningEvent, _outcome: Outcome<EventRequest>): void {
    const known = this.#known(tryOf(event));
    if (known === undefined) return;
    const { ok, value, effects } = known.execution;
    this.#ports.send({ ...tryOf(event), kind: "finish", ...this.#ended(known, ok, value, effects) });
  }

  /** The head looks at its limits. */
  refuse(): HeadwaterError | null {
    return null;
  }

  peer(cls: ContextClass, name: string | undefined): Slot {
    const ofClass = [...this.roots.values()].filter(
      (root) => isKindOf(root.shape.cls, cls) && (name === undefined || root.node === name),
    );
    const [only, another] = ofClass;
    if (only !== undefined && another === undefined) return only;
    throw rules.noSuchPeer(cls, name, [...this.roots.keys()]);
  }

  broken(error: unknown): void {
    this.#ports.broken(error);
  }
}

function tryOf({ ticket, attempt, payload }: RunningEvent): Try {
  return { node: payload.slot.node, ticket, attempt };
}
