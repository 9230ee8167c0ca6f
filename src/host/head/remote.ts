import type { Core } from "../../core/core.js";
import type { CoreEvent, Outcome } from "../../core/event.js";
import { added } from "../../core/ready.js";
import type { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { pathOf, resolvePath } from "../../model/path.js";
import * as rules from "../../model/rules.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import {
  ByTicket,
  type Effect,
  type EventRequest,
  endsItsHosts,
  FAILED,
  isWhole,
  methodOf,
  NOTHING_MORE,
  outcomeOf,
} from "../event/index.js";
import type { LogicalNode } from "../node/index.js";
import type { Ports } from "../ports/index.js";
import type { Ledger } from "../store/index.js";
import { type Asked, type ToHead, unwired, unwireEffect, wired } from "../wire/index.js";
import { Ahead } from "./ahead.js";
import { headerOf } from "./header.js";
import type { Hosts } from "./hosts.js";
import { Moves } from "./moves.js";
import { RemoteRun } from "./remote-run.js";
import { Residents } from "./residents.js";
import { SlowEvents } from "./slow-events.js";
import { Views } from "./views.js";
import { admitted, answered, Whole } from "./whole.js";

type Event = CoreEvent<EventRequest>;

/** A call that an event has asked for on one host; it goes ahead on the host that has the context. */
export interface RemoteCall {
  readonly from: number;
  readonly ask: number;
  readonly slot: Slot;
  readonly method: Method;
  readonly asked: Asked;
}

/** The part of a logical node's head that has events run on hosts. */
export class Remote {
  readonly #node: LogicalNode;
  readonly #core: Core<EventRequest>;
  readonly #roots: ReadonlyMap<string, Slot>;
  readonly #hosts: Hosts;
  /** Tries that have begun and not ended. */
  readonly #runs = new ByTicket<RemoteRun>();
  readonly #residents: Residents;
  readonly #views: Views;
  readonly #moves: Moves;
  readonly #ahead: Ahead;
  #lastCall = 0;
  readonly #slow: SlowEvents;
  readonly #journal: Journal | null;

  constructor(
    node: LogicalNode,
    core: Core<EventRequest>,
    roots: ReadonlyMap<string, Slot>,
    hosts: Hosts,
    ledger: Ledger | null,
    ports: Ports,
  ) {
    this.#residents = new Residents(hosts, ledger, node.marks, node.plant);
    this.#views = new Views({
      hosts,
      residents: this.#residents,
      seen: (event) => {
        node.remember(event);
        this.#moves.lookAgain();
      },
      start: (event) => this.#start(event),
    });
    this.#moves = new Moves({
      core,
      hosts,
      journal: ledger?.journal ?? null,
      marks: node.marks,
      pieceBytes: node.limits.pieceBytes,
      plant: node.plant,
      send: (host, message) => hosts.send(host, message),
      now: () => ports.now(),
      at: (time, task) => void ports.at(time, task),
      came: (slot) => this.#residents.use(slot),
      isLookedAt: (move) => this.#views.areOn((slot) => move.has(slot)),
      request: (move, waiting) => node.requestMove(move, waiting),
      done: (event, error) => this.#moved(event, error),
    });
    this.#node = node;
    this.#journal = ledger?.journal ?? null;
    this.#ahead = new Ahead(hosts);
    this.#slow = new SlowEvents(this.#runs, hosts, (warning) => node.warn(warning));
    this.#core = core;
    this.#roots = roots;
    this.#hosts = hosts;
  }

  /** The event may start, or enter the context of a call. */
  go(event: Event, call: RemoteCall | null): void {
    if (call !== null) {
      this.#runs.get(event.ticket)?.waiting?.delete(call);
      return this.#enter(event, call);
    }
    const { move } = event.payload;
    if (move !== null) return this.#moves.begin(event, move);
    const ahead = this.#ahead.sent(event);
    if (ahead !== null) return this.#catchUp(event, ahead);
    if (!this.#views.delay(event)) this.#start(event);
  }

  #start(event: Event): void {
    const { payload } = event;
    const isHopeless = endsItsHosts(payload);
    if (!isHopeless && this.#isHeld(event, payload.slot, () => this.#start(event))) return;
    const host = isHopeless ? null : this.#residents.bring(payload.slot);
    const run = new RemoteRun(event, event.attempt, this.#hosts, host);
    payload.execution = run;
    run.beganMs = this.#slow.clockMs;
    this.#runs.set(event.ticket, run);
    if (host === null) return this.#giveUp(run);
    this.#hosts.send(host, headerOf(event, null));
    this.#sendAhead(event, run, host);
  }

  /** Has the host of that context suspects that others must leave alone? Then `again` is called later. */
  #isHeld(event: Event, slot: Slot, again: () => void): boolean {
    const { quarantine } = this.#hosts;
    if (!quarantine.isActive) return false;
    const { attempt } = event;
    return !quarantine.admits(this.#hosts.of(slot), event, () => {
      if (event.attempt === attempt && event.status === "running" && this.#node.remote !== null) again();
    });
  }

  /** Those that wait behind an event need not wait for the head, too. */
  #sendAhead(event: Event, run: RemoteRun, host: number): void {
    if (event.next === null || event.mode !== "write" || event.dependsOn > 0) return;
    if (event.payload.record !== null) return; // if it ends another one, nobody else is to be suspected
    if (this.#hosts.quarantine.isOn(host)) return;
    for (const next of this.#ahead.after(event, run, host)) {
      next.beganMs = this.#slow.clockMs;
      this.#runs.set(next.event.ticket, next);
      this.#hosts.send(host, headerOf(next.event, next.behind?.event.ticket ?? null));
    }
  }

  /** The turn has come of an event that was sent ahead: its host has started it, unless the one before it is not over. */
  #catchUp(event: Event, run: RemoteRun): void {
    const { behind, early } = run;
    const host = run.hosts[0] as number;
    this.#ahead.caughtUp(run);
    run.early = null;
    run.beganMs = this.#slow.clockMs;
    if (!behind?.isOver) this.#hosts.send(host, { kind: "go", ...run.try, isAlone: event.dependsOn === 0 });
    this.#sendAhead(event, run, host);
    for (const message of early ?? []) this.receive(host, message);
  }

  #enter(event: Event, call: RemoteCall): void {
    const run = this.#runs.get(event.ticket);
    if (run === undefined || run.isDead) return;
    if (!isWhole(call.method)) return this.#letIn(event, run, call);
    const { slot, method, asked } = call;
    const whole = new Whole(this.#journal, run.made());
    const found = admitted({ slot, method, args: asked.args }, event, whole, this.#node.limits);
    if (!("paths" in found)) return this.#hosts.send(call.from, answered(run.try, call.ask, found));
    this.#letIn(event, run, { ...call, asked: { ...asked, args: [found.paths] } });
  }

  #letIn(event: Event, run: RemoteRun, call: RemoteCall): void {
    const { slot, from, ask, asked } = call;
    if (this.#isHeld(event, slot, () => this.#enter(event, call))) return;
    const { anonymous } = slot.shape;
    if (!anonymous) run.enters(slot);
    const host = anonymous ? from : this.#residents.bring(slot);
    for (const [path, state] of asked.seen) run.states.set(this.#slot(path), state);
    const callers = new Set(asked.callers.map(([path]) => this.#slot(path)));
    const above = run.entered.filter((each) => slot.isBelow(each) && !callers.has(each));
    const held = above.filter((each) => !event.hasReleased(each.place)).map(pathOf);
    const seen = above.flatMap((each) => {
      const state = this.#hosts.of(each) === host ? undefined : run.states.get(each);
      return state === undefined ? [] : [[pathOf(each), state] as const];
    });
    if (host === from && !isWhole(call.method))
      return this.#hosts.send(host, { kind: "enter", ...run.try, ask, held, seen });
    this.#lastCall += 1;
    run.calls.set(this.#lastCall, { ...call, host });
    run.joinedBy(host);
    this.#hosts.send(host, {
      kind: "call",
      ...run.try,
      call: this.#lastCall,
      header: headerOf(event, null),
      asked,
      held,
      seen,
    });
  }

  get views(): Views {
    return this.#views;
  }

  get moves(): Moves {
    return this.#moves;
  }

  /** These events are on their way to the journal. */
  appended(events: readonly Event[]): void {
    if (!this.#moves.isCopying) return;
    const writes: Write[] = [];
    for (const { payload } of events)
      if (payload.execution?.ok) payload.execution.collectChanges(new Map(), writes);
    this.#moves.appended(writes);
  }

  /** A move has been made, or not: as an event, it has done nothing. */
  #moved(event: Event, error: HeadwaterError | null): void {
    const run = new RemoteRun(event, event.attempt, this.#hosts, null);
    run.isDead = true;
    run.ok = error === null;
    run.value = error;
    if (error !== null) this.#node.marks?.hit("a move was not made");
    event.payload.execution = run;
    this.#node.finish(event, error === null ? { failed: false, starts: [], messages: [] } : FAILED);
  }

  /** How many tries are under way there. */
  runsOn(host: number): number {
    let count = 0;
    for (const { hosts } of this.#runs.values()) if (hosts.includes(host)) count += 1;
    return count;
  }

  /** Does an event that may still be undone, or a view, need that host? */
  needs(host: number): boolean {
    if (this.#views.needs(host)) return true;
    for (const { isOpen, payload } of this.#core.unsettled()) {
      if (isOpen && (payload.execution as RemoteRun | null)?.hosts.includes(host)) return true;
    }
    return false;
  }

  /** Whatever it does, hosts do not survive it. */
  #giveUp(run: RemoteRun): void {
    this.#node.giveUp(run.event, (error) => this.#fail(run, error));
  }

  #fail(run: RemoteRun, error: HeadwaterError): void {
    run.isDead = true;
    run.value = error;
    this.#runs.delete(run.event.ticket);
    this.#end(run.event, FAILED);
  }

  #end(event: Event, outcome: Outcome<EventRequest>): void {
    this.#node.finish(event, outcome);
    if (event.payload.record !== null) this.#hosts.quarantine.over(event);
  }

  /** The events that have been on a host that is gone, and that the journal does not have. */
  inLimbo(host: number, culprit: number | null, why: string): Event[] {
    for (const { isDead, hosts, event, behind } of this.#runs.values()) {
      const isSuspect = culprit === null ? behind === null : culprit === event.ticket;
      if (!isSuspect || isDead || !hosts.includes(host)) continue;
      this.#hosts.quarantine.suspect(host, event, why, culprit !== null);
    }
    return [...this.#core.unsettled()].filter(({ isOpen, payload }) => {
      const run = payload.execution as RemoteRun | null;
      return isOpen && run !== null && !run.isUndone && run.hosts.includes(host);
    });
  }

  /** For those who look whether events take too long. */
  get slow(): SlowEvents {
    return this.#slow;
  }

  /** Has this life of a host any state? Anonymous contexts have none. */
  hasState(life: number): boolean {
    return this.#residents.areOn(life, this.#node.root);
  }

  /** Events that ran on a host that is gone fail: no state was lost, and nobody knows which of them ended it. */
  failOn(host: number, error: HeadwaterError): void {
    for (const run of [...this.#runs.values()]) {
      if (!run.isDead && run.hosts.includes(host)) this.#fail(run, error);
    }
  }

  receive(host: number, message: ToHead): void {
    if (message.kind === "viewed") return this.#views.viewed(message, this.#node.root);
    if (message.kind === "copied" || message.kind === "staged") return this.#moves.heard(host, message);
    const run = this.#runs.get(message.ticket);
    if (run === undefined || run.attempt !== message.attempt || run.isDead) return;
    const { event } = run;
    if (run.behind !== null) {
      run.early = added(run.early, message);
      return;
    }
    switch (message.kind) {
      case "ask":
        return this.#asked(run, host, message);
      case "release":
        return this.#core.release(event, this.#slot(message.path).place, message.changed);
      case "retract":
        return this.#node.retract(event, () => {
          this.#hosts.send(host, { kind: "retracted", ...run.try, ask: message.ask });
        });
      case "again":
        return this.#node.startAgain(event);
      case "takeBack":
        this.#lastCall += 1;
        return run.takeBack(host, message, this.#lastCall);
      case "tookBack":
        run.changedOn(host, message);
        for (const [path, state] of message.entered) run.states.set(this.#slot(path), state);
        return run.tookBack(message.ask);
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
    if (event.hasReleased(slot.place) && !isWhole(method)) {
      const error = wired(rules.reacquire(slot, method));
      return this.#hosts.send(from, { kind: "refused", ...run.try, ask: message.ask, error });
    }
    const { path, args, positions, within, seen, ask, made } = message;
    const callers = [...message.callers, ...(run.calls.get(within)?.asked.callers ?? [])];
    const asked: Asked = { path, method: message.method, args, positions, within, callers, seen };
    const call: RemoteCall = { from, ask, slot, method, asked };
    if (made !== undefined) run.madeOn(from, made);
    const isIn = slot.shape.anonymous || run.hasEntered(slot);
    if (isIn && !isWhole(method)) return this.#enter(event, call);
    if (this.#core.call(event, slot.place, call, isWhole(method)) || event.payload.record === null) return;
    run.waiting = (run.waiting ?? new Set()).add(call);
    this.#hosts.quarantine.waits(event);
  }

  #returned(run: RemoteRun, message: Extract<ToHead, { kind: "return" }>): void {
    const call = run.calls.get(message.call);
    if (call === undefined) return;
    run.changedOn(call.host, message);
    for (const [path, state] of message.entered) run.states.set(this.#slot(path), state);
    const { ok, value, effects, doom } = message;
    const answer = { ok, value, effects, doom, ...NO_CHANGES, call: message.call, ask: call.ask };
    this.#hosts.send(call.from, { kind: "returned", ...run.try, ...answer });
  }

  #finished(run: RemoteRun, from: number, message: Extract<ToHead, { kind: "finish" }>): void {
    const { event } = run;
    const isBare = message.effects.length === 0;
    const effects = isBare
      ? NO_EFFECTS
      : message.effects.map((effect) => unwireEffect(effect, this.#node.name, this.#roots));
    const refusal = message.ok && !isBare ? this.#node.refuse(effects) : null;
    run.ok = message.ok && refusal === null;
    run.value = refusal ?? unwired(message.value);
    run.effects = run.ok ? effects : NO_EFFECTS;
    run.changedOn(from, message);
    run.isDead = true;
    run.isOver = message.isOver;
    this.#runs.delete(event.ticket);
    if (run.ok && run.hosts.length > 1) {
      for (const host of run.hosts)
        if (host !== from) this.#hosts.send(host, { kind: "publish", ...run.try });
    }
    this.#end(event, run.ok ? (isBare ? NOTHING_MORE : outcomeOf(event, effects)) : FAILED);
  }

  #slot(path: Asked["path"]): Slot {
    return resolvePath(this.#node.root, path);
  }
}

const NO_CHANGES = { writes: [], made: [] };
const NO_EFFECTS: readonly Effect[] = [];
