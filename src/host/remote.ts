import type { Core } from "../core/core.js";
import type { CoreEvent, Outcome } from "../core/event.js";
import { HeadwaterError } from "../errors.js";
import { pathOf, resolvePath } from "../model/path.js";
import * as rules from "../model/rules.js";
import type { Method } from "../model/shape.js";
import type { Ledger } from "./ledger.js";
import { Moves } from "./moves.js";
import type { LogicalNode } from "./node.js";
import { outcomeOf } from "./outgoing.js";
import { methodOf } from "./recovery.js";
import { RemoteRun } from "./remote-run.js";
import type { EventRequest } from "./request.js";
import type { Slot } from "./slot.js";
import { decodeState, encodeState, storedWrites } from "./stored-state.js";
import { type Asked, type Header, type ToHead, type ToHost, unwired, unwireEffect, wired } from "./wire.js";

/** The hosts of a program, as its head sees them. What is sent to one host arrives in order. */
export interface Hosts {
  /** On which host a context is. */
  of(slot: Slot): number;
  /** From now on, a context and those below it are on that host. */
  place(slot: Slot, host: number): void;
  /** Counts the lives of all hosts: what was on a host in an earlier life is gone. */
  life(host: number): number;
  send(host: number, message: ToHost): void;
}

type Event = CoreEvent<EventRequest>;

/** A call that an event has asked for on one host; it goes ahead on the host that has the context. */
export interface RemoteCall {
  readonly from: number;
  readonly ask: number;
  readonly slot: Slot;
  readonly method: Method;
  readonly asked: Asked;
}

/** An event that has outlived more hosts than this is not tried again. */
const HOSTS_LOST_MAX = 3;

/** What an event waits for before it can start. */
interface Viewing {
  /** The contexts whose states are on their way, and who was asked for them. */
  readonly on: Map<Slot, { readonly host: number; readonly look: number }>;
  /** Which try may start when they are there. */
  dueAttempt: number;
}

/** The part of a logical node's head that has events run on hosts. */
export class Remote {
  readonly #node: LogicalNode;
  readonly #core: Core<EventRequest>;
  readonly #roots: ReadonlyMap<string, Slot>;
  readonly #hosts: Hosts;
  readonly #ledger: Ledger | null;
  /** Tries that have begun and not ended. */
  readonly #runs = new Map<number, RemoteRun>();
  readonly #viewing = new Map<Event, Viewing>();
  readonly #moves: Moves;
  #lastCall = 0;

  constructor(
    node: LogicalNode,
    core: Core<EventRequest>,
    roots: ReadonlyMap<string, Slot>,
    hosts: Hosts,
    ledger: Ledger | null,
  ) {
    this.#ledger = ledger;
    this.#moves = new Moves(core, hosts, ledger !== null, (event) => this.moved(event));
    this.#node = node;
    this.#core = core;
    this.#roots = roots;
    this.#hosts = hosts;
  }

  /** The event may start, or enter the context of a call. */
  go(event: Event, call: RemoteCall | null): void {
    if (call !== null) return this.#enter(event, call);
    const { move } = event.payload;
    if (move !== null) return this.#moves.begin(event, move);
    const viewing = this.#viewing.get(event);
    if (viewing !== undefined) viewing.dueAttempt = event.attempt;
    else this.#start(event);
  }

  #start(event: Event): void {
    const { slot } = event.payload;
    const run = new RemoteRun(event, event.attempt, this.#hosts);
    event.payload.execution = run;
    this.#runs.set(event.ticket, run);
    if (event.payload.hostsLost > HOSTS_LOST_MAX) return this.#giveUp(run);
    const host = this.#bring(slot);
    run.joinedBy(host);
    if (!slot.shape.anonymous) run.enters(slot);
    this.#hosts.send(host, { kind: "run", ...headerOf(run) });
  }

  #enter(event: Event, call: RemoteCall): void {
    const run = this.#runs.get(event.ticket);
    if (run === undefined || run.isDead) return;
    const { slot, from, ask, asked } = call;
    run.enters(slot);
    const host = this.#bring(slot);
    for (const [path, state] of asked.seen) run.states.set(this.#slot(path), state);
    const above = run.entered.filter((each) => slot.isBelow(each));
    const held = above.filter((each) => !event.hasReleased(each.place)).map(pathOf);
    const seen = above.flatMap((each) => {
      const state = this.#hosts.of(each) === host ? undefined : run.states.get(each);
      return state === undefined ? [] : [[pathOf(each), state] as const];
    });
    if (host === from) return this.#hosts.send(host, { kind: "enter", ...run.try, ask, held, seen });
    this.#lastCall += 1;
    run.calls.set(this.#lastCall, { ...call, host });
    run.joinedBy(host);
    this.#hosts.send(host, {
      kind: "call",
      ...run.try,
      call: this.#lastCall,
      header: headerOf(run),
      asked,
      held,
      seen,
    });
  }

  /** Moves contexts whose time has come. Call it when events have got on. */
  move(): void {
    this.#moves.goOn();
  }

  /** A move has been made: as an event, it has done nothing. */
  moved(event: Event): void {
    const run = new RemoteRun(event, event.attempt, this.#hosts);
    run.isDead = true;
    run.ok = true;
    event.payload.execution = run;
    this.#node.finish(event, { failed: false, starts: [], messages: [] });
  }

  /** Whatever it does, hosts do not survive it. */
  #giveUp(run: RemoteRun): void {
    const { slot, method, hostsLost } = run.event.payload;
    run.isDead = true;
    run.value = new HeadwaterError(
      "HW-6003",
      `${hostsLost} hosts have ended while ${slot}.${method.name}(…) was running there, so it is not tried again. ` +
        "Look for what ends or exhausts its host.",
    );
    this.#node.finish(run.event, FAILED);
  }

  /** The host that has a context, which gets its state if it has not got it yet. */
  #bring(slot: Slot): number {
    const host = this.#hosts.of(slot);
    const life = this.#hosts.life(host);
    if (slot.residence === life) return host;
    slot.residence = life;
    const writes =
      this.#ledger === null || slot.shape.anonymous ? [] : storedWrites(this.#ledger.journal, slot);
    if (writes.length > 0)
      this.#hosts.send(host, { kind: "take", node: slot.node, path: pathOf(slot), writes });
    return host;
  }

  /** Has the state of a context looked at, for an event that will start when it is there. */
  view(event: Event, slot: Slot): void {
    const viewing = this.#viewing.get(event) ?? { on: new Map(), dueAttempt: 0 };
    this.#viewing.set(event, viewing);
    this.#look(event, slot, viewing.on);
  }

  #look(event: Event, slot: Slot, on: Viewing["on"]): void {
    const host = this.#bring(slot);
    this.#lastCall += 1;
    on.set(slot, { host, look: this.#lastCall });
    const { ticket, attempt } = event;
    const { node } = slot;
    this.#hosts.send(host, { kind: "view", node, ticket, attempt, path: pathOf(slot), look: this.#lastCall });
  }

  /** The events that have been on a host that is gone, and that the journal does not have. */
  inLimbo(host: number): Event[] {
    for (const { isDead, hosts, event } of this.#runs.values()) {
      if (!isDead && hosts.includes(host)) event.payload.hostsLost += 1;
    }
    return [...this.#core.unsettled()].filter(({ isOpen, payload }) => {
      const run = payload.execution as RemoteRun | null;
      return isOpen && run !== null && !run.isUndone && run.hosts.includes(host);
    });
  }

  /** Asks again for views that were asked for on a host that is gone. */
  lookAgain(host: number): void {
    for (const [event, { on }] of this.#viewing) {
      const lost = [...on].filter(([, asked]) => asked.host === host).map(([slot]) => slot);
      for (const slot of lost) this.#look(event, slot, on);
    }
  }

  receive(host: number, message: ToHead): void {
    if (message.kind === "viewed") return this.#viewed(message);
    if (message.kind === "given") return this.#moves.given(message.ask, message.given);
    const run = this.#runs.get(message.ticket);
    if (run === undefined || run.attempt !== message.attempt || run.isDead) return;
    const { event } = run;
    switch (message.kind) {
      case "ask":
        return this.#asked(run, host, message);
      case "release":
        return this.#core.release(event, this.#slot(message.path).place, message.changed);
      case "retract":
        return this.#node.retract(event, () => {
          this.#hosts.send(host, { kind: "retracted", ...run.try, ask: message.ask });
        });
      case "takeBack":
        return this.#takeBack(run, host, message.ask, message.calls);
      case "tookBack":
        run.changedOn(host, message.writes);
        return this.#tookBack(run, message.ask);
      case "return":
        return this.#returned(run, message);
      case "finish":
        return this.#finished(run, host, message);
    }
  }

  #asked(run: RemoteRun, from: number, message: Extract<ToHead, { kind: "ask" }>): void {
    const { event } = run;
    const slot = this.#slot(message.path);
    const method = methodOf(slot, message.method);
    if (event.hasReleased(slot.place)) {
      const error = wired(rules.reacquire(slot, method));
      return this.#hosts.send(from, { kind: "refused", ...run.try, ask: message.ask, error });
    }
    const { path, args, positions, seen, ask } = message;
    const asked: Asked = { path, method: message.method, args, positions, seen };
    const call: RemoteCall = { from, ask, slot, method, asked };
    if (run.hasEntered(slot)) this.#enter(event, call);
    else this.#core.call(event, slot.place, call);
  }

  #returned(run: RemoteRun, message: Extract<ToHead, { kind: "return" }>): void {
    const call = run.calls.get(message.call);
    if (call === undefined) return;
    run.changedOn(call.host, message.writes);
    for (const [path, state] of message.entered) run.states.set(this.#slot(path), state);
    const { ok, value, effects, doom, entered } = message;
    const answer = { ok, value, effects, doom, entered, writes: [], call: message.call, ask: call.ask };
    this.#hosts.send(call.from, { kind: "returned", ...run.try, ...answer });
  }

  #takeBack(run: RemoteRun, from: number, ask: number, calls: readonly number[]): void {
    const byHost = new Map<number, number[]>();
    for (const call of calls) {
      const host = run.calls.get(call)?.host;
      if (host === undefined) continue;
      byHost.set(host, [...(byHost.get(host) ?? []), call]);
    }
    if (byHost.size === 0) return this.#hosts.send(from, { kind: "tookBack", ...run.try, ask });
    this.#lastCall += 1;
    run.takingBack.set(this.#lastCall, { from, ask, left: byHost.size });
    for (const [host, own] of byHost) {
      this.#hosts.send(host, { kind: "takeBack", ...run.try, calls: own, ask: this.#lastCall });
    }
  }

  #tookBack(run: RemoteRun, ask: number): void {
    const waiting = run.takingBack.get(ask);
    if (waiting === undefined) return;
    waiting.left -= 1;
    if (waiting.left > 0) return;
    run.takingBack.delete(ask);
    this.#hosts.send(waiting.from, { kind: "tookBack", ...run.try, ask: waiting.ask });
  }

  #finished(run: RemoteRun, from: number, message: Extract<ToHead, { kind: "finish" }>): void {
    const { event } = run;
    const effects = message.effects.map((effect) => unwireEffect(effect, this.#node.name, this.#roots));
    const refusal = message.ok ? this.#node.refuse(effects) : null;
    run.ok = message.ok && refusal === null;
    run.value = refusal ?? unwired(message.value);
    run.effects = run.ok ? effects : [];
    run.changedOn(from, message.writes);
    run.isDead = true;
    this.#runs.delete(event.ticket);
    if (run.ok) {
      for (const host of run.hosts)
        if (host !== from) this.#hosts.send(host, { kind: "publish", ...run.try });
    }
    this.#node.finish(event, run.ok ? outcomeOf(event, effects) : FAILED);
  }

  #viewed({ path, state, ticket, look }: Extract<ToHead, { kind: "viewed" }>): void {
    for (const [event, viewing] of this.#viewing) {
      if (event.ticket !== ticket) continue;
      const slot = this.#slot(path);
      if (viewing.on.get(slot)?.look !== look) return; // it was taken again since
      event.payload.seen ??= new Map();
      event.payload.seen.set(slot, state === null ? null : decodeState(slot, state));
      viewing.on.delete(slot);
      if (viewing.on.size > 0) return;
      this.#viewing.delete(event);
      if (viewing.dueAttempt === event.attempt) this.#start(event);
      return;
    }
  }

  #slot(path: Asked["path"]): Slot {
    return resolvePath(this.#node.root, path);
  }
}

const FAILED: Outcome<EventRequest> = { failed: true, starts: [], messages: [] };

function headerOf({ event, attempt }: RemoteRun): Header {
  const { ticket, time, payload } = event;
  const { slot, method, args, caller, origin, seen } = payload;
  return {
    node: slot.node,
    ticket,
    attempt,
    time,
    path: pathOf(slot),
    method: method.name,
    args,
    caller: caller ?? null,
    origin,
    seen: [...(seen ?? [])].map(([above, state]) => {
      return [pathOf(above), state === null ? null : encodeState(above, state)] as const;
    }),
  };
}
