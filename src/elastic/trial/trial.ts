import { balanced } from "../balance.js";
import type { LoadEvent } from "../load.js";
import { Placement } from "../placement.js";
import type { Action, HostMeasurements, Measurements, Policy } from "../policy.js";
import { type Costs, InTime, SimContext, type SimJob } from "./in-time.js";
import { quantile } from "./scale.js";

/** Tries an elasticity policy on simulated hosts, in virtual time, under a given load. */
export interface TrialOptions {
  /** How many hosts there are in the beginning (1). */
  readonly hosts?: number;
  /** How long a host takes to start (500 ms). */
  readonly startMs?: number;
  /** How often the policy is asked (1 s). */
  readonly everyMs?: number;
  readonly costs?: Costs;
}

/** What was seen between two calls of the policy. */
export interface Sample {
  readonly timeMs: number;
  readonly hosts: number;
  readonly utilisation: number;
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface TrialDecision {
  readonly timeMs: number;
  readonly action: Action;
}

export interface Trial {
  readonly samples: readonly Sample[];
  readonly decisions: readonly TrialDecision[];
  /** How often hosts were added and removed again, or removed and added again, within half a minute. */
  readonly flaps: number;
  readonly events: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** What the hosts cost. */
  readonly hostSeconds: number;
  readonly hostsMax: number;
}

const COSTS: Costs = { headInMs: 0.004, headOutMs: 0.004, hostMs: 0.004, wireMs: 0.05 };
const MOVE_MS = 0.5;
const MOVE_MS_PER_BYTE = 1e-5;
const FLAP_MS = 30_000;
const HEAP_BYTES = 20e6;

/** What migrates as one: a subtree below the root, or the root. */
interface Unit {
  readonly context: SimContext;
  host: number;
  /** Where it is on its way to, if it is. */
  goal: number | null;
  bytes: number;
  busyMs: number;
  events: number;
}

interface SimulatedHost {
  readonly id: number;
  state: HostMeasurements["state"];
  /** Of its work, what was done when it was measured last. */
  doneMs: number;
  waitsMs: number[];
  latenciesMs: number[];
}

export function tryPolicy(load: Iterable<LoadEvent>, policy: Policy, options: TrialOptions = {}): Trial {
  return new Stage(load, policy, options).run();
}

/** Never does anything: what a fixed number of hosts would have given. */
export const fixed: Policy = () => [];

class Stage {
  readonly #load: Iterator<LoadEvent>;
  readonly #policy: Policy;
  readonly #startMs: number;
  readonly #everyMs: number;
  readonly #time: InTime;
  readonly #roots = new Map<string, SimContext>();
  readonly #units = new Map<SimContext, Unit>();
  readonly #hosts = new Map<number, SimulatedHost>();
  #placement = new Placement([]);
  #lastHost = -1;
  #hasMore = true;
  readonly #samples: Sample[] = [];
  readonly #decisions: TrialDecision[] = [];
  readonly #latenciesMs: number[] = [];

  constructor(load: Iterable<LoadEvent>, policy: Policy, options: TrialOptions) {
    const { hosts = 1, startMs = 500, everyMs = 1000, costs = COSTS } = options;
    this.#load = load[Symbol.iterator]();
    this.#policy = policy;
    this.#startMs = startMs;
    this.#everyMs = everyMs;
    this.#time = new InTime({
      costs,
      hostOf: (context) => this.#unit(context).host,
      answered: (job, nowMs) => this.#answered(job, nowMs),
      ran: (job, host, beganMs) => this.#ran(job, host, beganMs),
      moved: (job) => this.#arrived(job),
    });
    for (let i = 0; i < hosts; i++) this.#begin("running");
    this.#place();
  }

  run(): Trial {
    this.#next();
    for (let tick = 1; this.#hasMore || this.#time.unfinished > 0; tick++) {
      this.#time.run(tick * this.#everyMs);
      this.#tick();
    }
    this.#latenciesMs.sort((a, b) => a - b);
    const counts = this.#samples.map(({ hosts }) => hosts);
    return {
      samples: this.#samples,
      decisions: this.#decisions,
      flaps: flapsIn(this.#decisions),
      events: this.#latenciesMs.length,
      p50Ms: quantile(this.#latenciesMs, 0.5),
      p99Ms: quantile(this.#latenciesMs, 0.99),
      hostSeconds: (counts.reduce((sum, count) => sum + count, 0) * this.#everyMs) / 1000,
      hostsMax: Math.max(0, ...counts),
    };
  }

  /** The next event of the load. */
  #next(): void {
    const { value, done } = this.#load.next() as IteratorResult<LoadEvent, undefined>;
    if (done || value === undefined) {
      this.#hasMore = false;
      return;
    }
    this.#time.at(value.atMs, () => {
      const context = this.#context(value.context);
      this.#unit(context).bytes += value.bytes ?? 0;
      this.#time.request(context, value.costMs, value.reads ? "read" : "write");
      this.#next();
    });
  }

  #context([first = "", ...steps]: readonly string[]): SimContext {
    let context = this.#roots.get(first);
    if (context === undefined) {
      context = new SimContext(first);
      this.#roots.set(first, context);
    }
    for (const step of steps) context = context.child(step);
    return context;
  }

  #unit(context: SimContext): Unit {
    let top = context;
    while (top.depth > 1 && top.parent !== null) top = top.parent;
    let unit = this.#units.get(top);
    if (unit === undefined) {
      unit = { context: top, host: this.#placement.of(top), goal: null, bytes: 0, busyMs: 0, events: 0 };
      this.#units.set(top, unit);
    }
    return unit;
  }

  #answered(job: SimJob, nowMs: number): void {
    if (job.moveTo !== undefined) return;
    this.#latenciesMs.push(nowMs - job.askedMs);
    this.#hosts.get(this.#unit(job.context).host)?.latenciesMs.push(nowMs - job.askedMs);
  }

  #ran(job: SimJob, host: number, beganMs: number): void {
    this.#hosts.get(host)?.waitsMs.push(beganMs - job.arrivedMs);
    const unit = this.#unit(job.context);
    unit.busyMs += job.costMs;
    unit.events += 1;
  }

  #begin(state: HostMeasurements["state"]): SimulatedHost {
    this.#lastHost += 1;
    const host: SimulatedHost = { id: this.#lastHost, state, doneMs: 0, waitsMs: [], latenciesMs: [] };
    this.#hosts.set(host.id, host);
    return host;
  }

  /** From now on, contexts are spread over the hosts that run. */
  #place(): void {
    const running = [...this.#hosts.values()].filter(({ state }) => state === "running");
    this.#placement = new Placement(running.map(({ id }) => id));
  }

  #move(unit: Unit, to: number): void {
    if ((unit.goal ?? unit.host) === to) return;
    unit.goal = to;
    this.#time.request(unit.context, MOVE_MS + unit.bytes * MOVE_MS_PER_BYTE, "write", to);
  }

  #arrived({ context, moveTo }: SimJob): void {
    const unit = this.#unit(context);
    const from = unit.host;
    if (moveTo !== undefined) unit.host = moveTo;
    if (unit.goal === moveTo) unit.goal = null;
    this.#maybeGone(from);
  }

  /** A host that was drained is gone when nothing is left there. */
  #maybeGone(id: number): void {
    if (this.#hosts.get(id)?.state !== "draining") return;
    if ([...this.#units.values()].every(({ host, goal }) => host !== id && goal !== id))
      this.#hosts.delete(id);
  }

  #tick(): void {
    const now = this.#measure();
    const latencies = [...this.#hosts.values()]
      .flatMap((host) => host.latenciesMs.splice(0))
      .sort((a, b) => a - b);
    const running = now.hosts.filter(({ state }) => state === "running");
    this.#samples.push({
      timeMs: now.timeMs,
      hosts: now.hosts.length,
      utilisation: running.reduce((sum, { utilisation }) => sum + utilisation, 0) / running.length,
      eventsPerSecond: (latencies.length * 1000) / this.#everyMs,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
    });
    for (const action of this.#policy(now)) {
      this.#decisions.push({ timeMs: now.timeMs, action });
      this.#carryOut(action, now);
    }
  }

  #measure(): Measurements {
    const hosts = [...this.#hosts.values()].map((host) => this.#measured(host));
    for (const unit of this.#units.values()) [unit.busyMs, unit.events] = [0, 0];
    return { timeMs: this.#time.nowMs, hosts };
  }

  #measured(host: SimulatedHost): HostMeasurements {
    const { id, state } = host;
    const server = this.#time.hosts.get(id);
    const doneMs = server === undefined ? 0 : server.busyMs - Math.max(0, server.freeMs - this.#time.nowMs);
    const busyMs = doneMs - host.doneMs;
    host.doneMs = doneMs;
    const waitsMs = host.waitsMs.splice(0);
    const sorted = host.latenciesMs.toSorted((a, b) => a - b);
    const own = [...this.#units.values()].filter((unit) => unit.host === id);
    const perSecond = 1000 / this.#everyMs;
    return {
      id,
      state,
      utilisation: Math.min(1, busyMs / this.#everyMs),
      heapBytes: own.reduce((sum, { bytes }) => sum + bytes, HEAP_BYTES),
      stateBytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      queueMs: waitsMs.reduce((sum, ms) => sum + ms, 0) / Math.max(1, waitsMs.length),
      p99Ms: quantile(sorted, 0.99),
      eventsPerSecond: waitsMs.length * perSecond,
      contexts: own.map(({ context, busyMs: ms, events, bytes }) => ({
        context: String(context),
        load: ms / this.#everyMs,
        eventsPerSecond: events * perSecond,
        bytes,
      })),
    };
  }

  #carryOut(action: Action, now: Measurements): void {
    if (action.kind === "add") for (let i = 0; i < action.count; i++) this.#add();
    else if (action.kind === "remove") this.#remove(action.host);
    else if (action.kind === "move") this.#moveNamed(action.context, action.to);
    else if (action.kind === "balance") {
      for (const { context, to } of balanced(now, action.by).moves) this.#moveNamed(context, to);
    }
  }

  #add(): void {
    const host = this.#begin("starting");
    this.#time.at(this.#time.nowMs + this.#startMs, () => {
      host.state = "running";
      this.#place();
      for (const unit of this.#units.values()) {
        if (this.#placement.of(unit.context) === host.id) this.#move(unit, host.id);
      }
    });
  }

  #remove(id: number): void {
    const host = this.#hosts.get(id);
    const others = [...this.#hosts.values()].some((each) => each.id !== id && each.state === "running");
    if (host?.state !== "running" || !others) return;
    host.state = "draining";
    this.#place();
    for (const unit of this.#units.values()) {
      if ((unit.goal ?? unit.host) === id) this.#move(unit, this.#placement.of(unit.context));
    }
    this.#maybeGone(id);
  }

  #moveNamed(name: string, to: number): void {
    if (this.#hosts.get(to)?.state !== "running") return;
    for (const unit of this.#units.values()) if (String(unit.context) === name) this.#move(unit, to);
  }
}

function flapsIn(decisions: readonly TrialDecision[]): number {
  const changes = decisions.filter(({ action }) => action.kind === "add" || action.kind === "remove");
  return changes.filter(({ timeMs, action }, i) => {
    const before = changes[i - 1];
    return before !== undefined && before.action.kind !== action.kind && timeMs - before.timeMs < FLAP_MS;
  }).length;
}
