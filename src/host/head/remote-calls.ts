import { pathOf, resolvePath } from "../../model/path.js";
import * as rules from "../../model/rules.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import { type ByTicket, isWhole, methodOf } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import { admitted, ContextsBelow, type Scheduler } from "../runner/index.js";
import { type CallRequest, type ToHead, wired } from "../wire/index.js";
import type { Admission } from "./admission.js";
import { headerOf } from "./header.js";
import type { Hosts } from "./hosts.js";
import type { RemoteRun } from "./remote-run.js";
import type { Residents } from "./residents.js";
import { answered } from "./whole-call.js";

/** A call that an event has asked for on one host; it goes ahead on the host that has the context. */
export interface RemoteCall {
  readonly from: HostId;
  readonly ask: number;
  readonly slot: Slot;
  readonly method: Method;
  readonly asked: CallRequest;
}

/** The calls of events between hosts: a host asks the head, and the head lets the call go ahead on the host that has the context. */
export class RemoteCalls {
  readonly #scheduler: Scheduler;
  readonly #hosts: Hosts;
  readonly #runs: ByTicket<RemoteRun>;
  readonly #residents: Residents;
  readonly #admission: Admission;
  #lastNumber = 0;

  constructor(
    scheduler: Scheduler,
    hosts: Hosts,
    runs: ByTicket<RemoteRun>,
    residents: Residents,
    admission: Admission,
  ) {
    this.#scheduler = scheduler;
    this.#hosts = hosts;
    this.#runs = runs;
    this.#residents = residents;
    this.#admission = admission;
  }

  /** The head's number for the next call. */
  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  enter(event: NodeEvent, call: RemoteCall): void {
    const run = this.#runs.get(event.ticket);
    if (run === undefined || run.isDead) return;
    if (!isWhole(call.method)) return this.#letIn(event, run, call);
    const { slot, method, asked } = call;
    const whole = new ContextsBelow(this.#scheduler.ledger?.journal ?? null, run.existing());
    const found = admitted({ slot, method, args: asked.args }, event, whole, this.#scheduler.limits);
    if (!("paths" in found)) return this.#hosts.send(call.from, answered(run.attemptId, call.ask, found));
    this.#letIn(event, run, { ...call, asked: { ...asked, args: [found.paths] } });
  }

  #letIn(event: NodeEvent, run: RemoteRun, call: RemoteCall): void {
    const { slot, from, ask, method, asked } = call;
    const { node, ticket, attempt } = run.attemptId;
    if (this.#admission.holds(event, slot, () => this.enter(event, call))) return;
    const { anonymous } = slot.shape;
    if (!anonymous) run.enters(slot);
    const host = anonymous ? from : this.#residents.bring(slot);
    for (const [path, state] of asked.seen) run.states.set(this.#slot(path), state);
    const callers = new Set(asked.callers.map(([path]) => this.#slot(path)));
    const above = run.entered.filter((each) => slot.isBelow(each) && !callers.has(each));
    const held = above.filter((each) => !event.hasReleased(each.coreContext)).map(pathOf);
    const seen = above.flatMap((each) => {
      const state = this.#hosts.of(each) === host ? undefined : run.states.get(each);
      return state === undefined ? [] : [[pathOf(each), state] as const];
    });
    if (host === from && !isWhole(call.method))
      return this.#hosts.send(host, { kind: "enter", node, ticket, attempt, ask, held, seen });
    const number = this.nextNumber();
    run.calls.set(number, { from, ask, slot, method, asked, host });
    run.joinedBy(host);
    this.#hosts.send(host, {
      kind: "call",
      node,
      ticket,
      attempt,
      call: number,
      header: headerOf(event, null),
      asked,
      held,
      seen,
    });
  }

  asked(run: RemoteRun, from: HostId, message: Extract<ToHead, { kind: "ask" }>): void {
    const { event } = run;
    const slot = this.#slot(message.path);
    const method = methodOf(slot, message.method);
    if (event.hasReleased(slot.coreContext) && !isWhole(method)) {
      const error = wired(rules.reacquire(slot, method));
      return this.#hosts.send(from, { kind: "refused", ...run.attemptId, ask: message.ask, error });
    }
    const { path, args, positions, within, seen, ask, existing } = message;
    const above = within === 0 ? NONE : (run.calls.get(within)?.asked.callers ?? NONE);
    const callers = above.length === 0 ? message.callers : [...message.callers, ...above];
    const asked: CallRequest = { path, method: message.method, args, positions, within, callers, seen };
    const call: RemoteCall = { from, ask, slot, method, asked };
    if (existing !== undefined) run.existsOn(from, existing);
    const isIn = slot.shape.anonymous || run.hasEntered(slot);
    if (isIn && !isWhole(method)) return this.enter(event, call);
    if (
      this.#scheduler.core.call(event, slot.coreContext, call, isWhole(method)) ||
      event.payload.record === null
    )
      return;
    run.waiting = (run.waiting ?? new Set()).add(call);
    this.#hosts.quarantine.waits(event);
  }

  returned(run: RemoteRun, message: Extract<ToHead, { kind: "return" }>): void {
    const call = run.calls.get(message.call);
    if (call === undefined) return;
    run.changedOn(call.host, message);
    for (const [path, state] of message.entered) run.states.set(this.#slot(path), state);
    const { node, ticket, attempt } = run.attemptId;
    const { ok, value, effects, doom } = message;
    this.#hosts.send(call.from, {
      kind: "returned",
      node,
      ticket,
      attempt,
      ask: call.ask,
      call: message.call,
      ok,
      value,
      effects,
      doom,
      writes: NONE,
      existing: NONE,
    });
  }

  #slot(path: CallRequest["path"]): Slot {
    return resolvePath(this.#scheduler.root, path);
  }
}

const NONE: readonly never[] = [];
