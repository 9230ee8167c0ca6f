import type { CommitOrder } from "../../core/core.js";
import { Placement } from "../placement.js";
import { type Costs, InTime, SimContext } from "./in-time.js";

/**
 * EventWave's microbenchmark (section 7.1) on any number of simulated hosts: events choose one of many contexts round
 * robin and work there. The core is the real one; what the head and the hosts take is measured elsewhere and given.
 */
export interface ScaleOptions {
  readonly hosts: number;
  readonly workMs: number;
  readonly costs: Costs;
  /** 160, as in the paper. */
  readonly contexts?: number;
  /** How many events are kept in flight (4 per context). */
  readonly inFlight?: number;
  readonly events?: number;
  readonly commitOrder?: CommitOrder;
  /** Contexts on hosts as hashing places them, or evenly, as balancing would (the default). */
  readonly spread?: "even" | "hashed";
}

export interface Scale {
  readonly hosts: number;
  readonly workMs: number;
  readonly eventsPerSecond: number;
  /** The part of the time in which the head was busy, and hosts were on average. */
  readonly headUtilisation: number;
  readonly hostUtilisation: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CONTEXTS = 160;
const EVENTS = 20_000;

export function simulateScale(options: ScaleOptions): Scale {
  const {
    hosts,
    workMs,
    costs,
    contexts = CONTEXTS,
    events = EVENTS,
    commitOrder,
    spread = "even",
  } = options;
  const inFlight = options.inFlight ?? 4 * contexts;
  const root = new SimContext("Bench");
  const all = Array.from({ length: contexts }, (_, key) => root.child(`counters(${key})`));
  const placement = new Placement(Array.from({ length: hosts }, (_, host) => host));
  const hostFor = (context: SimContext, i: number) => (spread === "even" ? i % hosts : placement.of(context));
  const home = new Map(all.map((context, i) => [context, hostFor(context, i)]));
  const latenciesMs: number[] = [];
  let asked = 0;
  const ask = () => {
    if (asked < events) time.request(all[asked++ % contexts] as SimContext, workMs);
  };
  const time = new InTime({
    costs,
    commitOrder,
    hostOf: (context) => home.get(context) ?? 0,
    answered: (job, nowMs) => {
      latenciesMs.push(nowMs - job.askedMs);
      ask();
    },
  });
  for (let i = 0; i < inFlight; i++) ask();
  time.run();
  latenciesMs.sort((a, b) => a - b);
  const tookMs = time.nowMs;
  const busyMs = [...time.hosts.values()].reduce((sum, host) => sum + host.busyMs, 0);
  return {
    hosts,
    workMs,
    eventsPerSecond: (events / tookMs) * 1000,
    headUtilisation: time.head.busyMs / tookMs,
    hostUtilisation: busyMs / hosts / tookMs,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  };
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
