import type { Core } from "../../core/core.js";
import type { EntryRequest, Outcome } from "../../core/event.js";
import { added, allAlong } from "../../core/ready.js";
import type { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { resolvePath } from "../../model/path.js";
import type { Slot } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import {
  ByTicket,
  type Effect,
  type EventRequest,
  endsItsHosts,
  FAILED,
  NOTHING_MORE,
  outcomeOf,
  type WaitingCaller,
} from "../event/index.js";
import type { HostId } from "../ports/index.js";
import { hasTooManyMoves, type Runner, type Scheduler } from "../runner/index.js";
import { type CallRequest, type ToHead, unwired, unwireEffect } from "../wire/index.js";
import { Admission } from "./admission.js";
import { type Culprit, mayBe } from "./culprit.js";
import { headerOf } from "./header.js";
import type { Hosts } from "./hosts.js";
import { type MigrationTarget, migrationRequest } from "./migration.js";
import { Migrations } from "./migrations.js";
import { Pipelining } from "./pipelining.js";
import { type RemoteCall, RemoteCalls } from "./remote-calls.js";
import { RemoteRun } from "./remote-run.js";
import { Residents } from "./residents.js";
import { SlowEvents } from "./slow-events.js";
import { Views } from "./views.js";

/** The head of a logical node: runs its events on hosts. */
export class Remote implements Runner {
  readonly #scheduler: Scheduler;
  readonly #core: Core<EventRequest>;
  readonly #hosts: Hosts;
  /** Attempts that have begun and not ended. */
  readonly #runs = new ByTicket<RemoteRun>();
  readonly #residents: Residents;
  readonly #views: Views;
  readonly #moves: Migrations;
  readonly #pipelining: Pipelining;
  readonly #calls: RemoteCalls;
  readonly #admission: Admission;
  readonly #slow: SlowEvents;
  readonly #journal: Journal | null;

  constructor(scheduler: Scheduler, hosts: Hosts) {
    const { core, ledger, marks, plant, ports, limits, around } = scheduler;
    this.#scheduler = scheduler;
    this.#core = core;
    this.#hosts = hosts;
    this.#journal = ledger?.journal ?? null;
    this.#residents = new Residents(hosts, ledger, marks, plant);
    this.#views = new Views({
      hosts,
      residents: this.#residents,
      seen: (event) => {
        scheduler.remember(event);
        this.#moves.lookAgain();
      },
      start: (event) => this.#start(event),
    });
    this.#moves = new Migrations({
      core,
      hosts,
      journal: this.#journal,
      marks,
      pieceBytes: limits.pieceBytes,
      plant,
      send: (host, message) => hosts.send(host, message),
      now: () => ports.now(),
      at: (time, task) => void ports.at(time, task),
      came: (slot) => this.#residents.use(slot),
      isLookedAt: (move) => this.#views.areOn((slot) => move.has(slot)),
      request: (move, waiting) => void scheduler.request(migrationRequest(move, waiting)),
      done: (event, error) => this.#moved(event, error),
    });
    this.#pipelining = new Pipelining(hosts);
    this.#admission = new Admission(scheduler, hosts);
    this.#calls = new RemoteCalls(scheduler, hosts, this.#runs, this.#residents, this.#admission);
    this.#slow = new SlowEvents(this.#runs, hosts, (warning) => around.warn(warning));
  }

  get name(): string {
    return this.#scheduler.name;
  }

  get isHalted(): boolean {
    return this.#scheduler.halted !== null;
  }

  see(event: NodeEvent, slot: Slot): void {
    this.#views.take(event, slot);
  }

  enter({ event, ofAttempt, token }: EntryRequest<EventRequest>): void {
    this.go(event, ofAttempt, token);
  }

  go(event: NodeEvent, attempt: number, token: unknown): void {
    if (this.#scheduler.admits(event, attempt, token, this)) this.#go(event, token as RemoteCall | null);
  }

  appending(first: NodeEvent): void {
    const events = allAlong(first);
    for (const { payload } of events) payload.execution?.leave();
    if (this.#journal !== null) this.#appended(events);
  }

  get isDue(): boolean {
    return this.#moves.areDue;
  }

  goOn(): void {
    this.#moves.goOn();
  }

  halt(reason: HeadwaterError): void {
    this.#moves.halt(reason);
  }

  /** A host says something about an event. */
  heard(host: HostId, message: ToHead): void {
    if (this.isHalted) return;
    this.#receive(host, message);
    this.#scheduler.wake();
  }

  /** A host is gone. */
  hostLost(host: HostId, culprit: Culprit, why: string): void {
    if (this.isHalted) return;
    this.#moves.hostGone(host);
    this.#scheduler.lose(this.#inLimbo(host, culprit, why));
    this.#views.lookAgain(host);
  }

  /** A host is gone that had no state: only the events that ran there are lost. */
  eventsLost(host: HostId, error: HeadwaterError): void {
    if (this.isHalted) return;
    this.#moves.hostGone(host);
    this.#failOn(host, error);
    this.#views.lookAgain(host);
  }

  /** A host is gone that no event needs any more. */
  hostRemoved(host: HostId): void {
    if (this.isHalted) return;
    this.#moves.hostGone(host);
    this.#scheduler.wake();
  }

  /** Migrates a context, and what comes along, to another host. */
  move(slot: Slot, move: MigrationTarget, waiting: WaitingCaller): void {
    const { halted, limits } = this.#scheduler;
    const { open } = this.#moves;
    if (halted !== null) waiting.reject(halted);
    else if (open >= limits.inFlight) waiting.reject(hasTooManyMoves(this.#scheduler, open));
    else this.#moves.start(slot, move, waiting);
  }

  /** How many migrations have been asked for and are not done. */
  get openMoves(): number {
    return this.#moves.open;
  }

  /** The event may start, or enter the context of a call. */
  #go(event: NodeEvent, call: RemoteCall | null): void {
    if (call !== null) {
      this.#runs.get(event.ticket)?.waiting?.delete(call);
      return this.#calls.enter(event, call);
    }
    const { migration } = event.payload;
    if (migration !== null) return this.#moves.begin(event, migration);
    const ahead = this.#pipelining.sent(event);
    if (ahead !== null) return this.#catchUp(event, ahead);
    if (!this.#views.delay(event)) this.#start(event);
  }

  #start(event: NodeEvent): void {
    const { payload } = event;
    const isHopeless = endsItsHosts(payload);
    if (!isHopeless && this.#admission.holds(event, payload.slot, () => this.#start(event))) return;
    const host = isHopeless ? null : this.#residents.bring(payload.slot);
    const run = new RemoteRun(event, event.attempt, this.#hosts, host);
    payload.execution = run;
    run.beganMs = this.#slow.clockMs;
    this.#runs.set(event.ticket, run);
    if (host === null) return this.#giveUp(run);
    this.#hosts.send(host, headerOf(event, null));
    this.#sendAhead(event, run, host);
  }

  /** Events that wait behind an event need not wait for the head, too. */
  #sendAhead(event: NodeEvent, run: RemoteRun, host: HostId): void {
    if (event.next === null || event.mode !== "write" || event.dependsOn > 0) return;
    if (event.payload.record !== null) return; // if it ends another one, no other event is to be suspected
    if (this.#hosts.quarantine.isOn(host)) return;
    for (const next of this.#pipelining.after(event, run, host)) {
      next.beganMs = this.#slow.clockMs;
      this.#runs.set(next.event.ticket, next);
      this.#hosts.send(host, headerOf(next.event, next.behind?.event.ticket ?? null));
    }
  }

  /** The turn has come of a pipelined event: its host has started it, unless the one before it is not over. */
  #catchUp(event: NodeEvent, run: RemoteRun): void {
    const { behind, early } = run;
    const host = run.hosts[0] as HostId;
    this.#pipelining.caughtUp(run);
    run.early = null;
    run.beganMs = this.#slow.clockMs;
    if (!behind?.isOver)
      this.#hosts.send(host, { kind: "start", ...run.attemptId, isAlone: event.dependsOn === 0 });
    this.#sendAhead(event, run, host);
    for (const message of early ?? []) this.#receive(host, message);
  }

  /** These events are on their way to the journal. */
  #appended(events: readonly NodeEvent[]): void {
    if (!this.#moves.isCopying) return;
    const writes: Write[] = [];
    for (const { payload } of events)
      if (payload.execution?.ok) payload.execution.collectChanges(new Map(), writes);
    this.#moves.appended(writes);
  }

  /** A migration has been made, or not: as an event, it has done nothing. */
  #moved(event: NodeEvent, error: HeadwaterError | null): void {
    const run = new RemoteRun(event, event.attempt, this.#hosts, null);
    run.isDead = true;
    run.ok = error === null;
    run.value = error;
    if (error !== null) this.#scheduler.marks?.hit("a migration failed");
    event.payload.execution = run;
    this.#scheduler.finish(event, error === null ? { failed: false, starts: [], messages: [] } : FAILED);
  }

  /** How many attempts are in flight there. */
  runsOn(host: HostId): number {
    let count = 0;
    for (const { hosts } of this.#runs.values()) if (hosts.includes(host)) count += 1;
    return count;
  }

  /** Does an event that may still be undone, or a view, need that host? */
  needs(host: HostId): boolean {
    if (this.#views.needs(host)) return true;
    for (const { isOpen, payload } of this.#core.unsettled()) {
      if (isOpen && (payload.execution as RemoteRun | null)?.hosts.includes(host)) return true;
    }
    return false;
  }

  /** Whatever it does, hosts do not survive it. */
  #giveUp(run: RemoteRun): void {
    this.#scheduler.giveUp(run.event, (error) => this.#fail(run, error));
  }

  #fail(run: RemoteRun, error: HeadwaterError): void {
    run.isDead = true;
    run.value = error;
    this.#runs.delete(run.event.ticket);
    this.#end(run.event, FAILED);
  }

  #end(event: NodeEvent, outcome: Outcome<EventRequest>): void {
    this.#scheduler.finish(event, outcome);
    if (event.payload.record !== null) this.#hosts.quarantine.over(event);
  }

  /** The events that have been on a host that is gone, and that the journal does not have. */
  #inLimbo(host: HostId, culprit: Culprit, why: string): NodeEvent[] {
    for (const { isDead, hosts, event, behind } of this.#runs.values()) {
      if (culprit.kind === "unknown" && behind !== null) continue; // it had not begun
      if (!mayBe(culprit, event.ticket) || isDead || !hosts.includes(host)) continue;
      this.#hosts.quarantine.suspect(host, event, why, culprit.kind !== "unknown");
    }
    return [...this.#core.unsettled()].filter(({ isOpen, payload }) => {
      const run = payload.execution as RemoteRun | null;
      return isOpen && run !== null && !run.isRolledBack && run.hosts.includes(host);
    });
  }

  /** For the check whether events take too long. */
  get slow(): SlowEvents {
    return this.#slow;
  }

  /** Has this life of a host any state? Anonymous contexts have none. */
  hasState(life: number): boolean {
    return this.#residents.areOn(life, this.#scheduler.root);
  }

  /** Events that ran on a host that is gone fail: no state was lost, and it is unknown which of them ended it. */
  #failOn(host: HostId, error: HeadwaterError): void {
    for (const run of [...this.#runs.values()]) {
      if (!run.isDead && run.hosts.includes(host)) this.#fail(run, error);
    }
  }

  #receive(host: HostId, message: ToHead): void {
    if (message.kind === "viewed") return this.#views.viewed(message, this.#scheduler.root);
    if (message.kind === "copiedPiece" || message.kind === "pieceStaged")
      return this.#moves.heard(host, message);
    const run = this.#runs.get(message.ticket);
    if (run === undefined || run.attempt !== message.attempt || run.isDead) return;
    const { event } = run;
    if (run.behind !== null) {
      run.early = added(run.early, message);
      return;
    }
    switch (message.kind) {
      case "ask":
        return this.#calls.asked(run, host, message);
      case "release":
        return this.#core.release(event, this.#slot(message.path).coreContext, message.changed);
      case "retract":
        return this.#scheduler.retract(event, () => {
          this.#hosts.send(host, { kind: "retracted", ...run.attemptId, ask: message.ask });
        });
      case "restart":
        return this.#scheduler.lose([event]);
      case "rollbackCalls":
        return run.rollBackCalls(host, message, this.#calls.nextNumber());
      case "callsRolledBack":
        run.changedOn(host, message);
        for (const [path, state] of message.entered) run.states.set(this.#slot(path), state);
        return run.callsRolledBack(message.ask);
      case "return":
        return this.#calls.returned(run, message);
      case "finish":
        return this.#finished(run, host, message);
    }
  }

  #finished(run: RemoteRun, from: HostId, message: Extract<ToHead, { kind: "finish" }>): void {
    const { event } = run;
    const isBare = message.effects.length === 0;
    const effects = isBare
      ? NO_EFFECTS
      : message.effects.map((effect) => unwireEffect(effect, this.name, this.#scheduler.around.roots));
    const refusal = message.ok && !isBare ? this.#scheduler.refuse(effects) : null;
    run.ok = message.ok && refusal === null;
    run.value = refusal ?? unwired(message.value);
    run.effects = run.ok ? effects : NO_EFFECTS;
    run.changedOn(from, message);
    run.isDead = true;
    run.isOver = message.isOver;
    this.#runs.delete(event.ticket);
    if (run.ok && run.hosts.length > 1) {
      const { node, ticket, attempt } = message;
      for (const host of run.hosts)
        if (host !== from) this.#hosts.send(host, { kind: "publish", node, ticket, attempt });
    }
    this.#end(event, run.ok ? (isBare ? NOTHING_MORE : outcomeOf(event, effects)) : FAILED);
  }

  #slot(path: CallRequest["path"]): Slot {
    return resolvePath(this.#scheduler.root, path);
  }
}

const NO_EFFECTS: readonly Effect[] = [];
