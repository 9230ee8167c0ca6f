import { HeadwaterError } from "../errors.js";
import { balanced } from "./balance.js";
import {
  type Action,
  type HostMeasurements,
  type Measure,
  type Measurements,
  type Policy,
  running,
} from "./policy.js";

/** `[low, high]`: hosts are added above the second, on the average of all hosts, and removed below the first. */
export type Bounds = { readonly [M in Measure]?: readonly [number, number] };

export interface KeepOptions extends Bounds {
  /** Never fewer hosts (1). */
  readonly min?: number;
  /** Never more. */
  readonly max: number;
  /** How many measurements in a row must be out of bounds before something is done (3). */
  readonly inARow?: number;
  /** How long nothing is done after something was done (5 s). Hosts are removed only after three times as long. */
  readonly coolDownMs?: number;
  /** Above its bound, add as many hosts as there are, as the EventWave paper does, instead of as many as it takes. */
  readonly doubles?: boolean;
}

/** The time for a removal to prove right is longer: a missing host hurts more than an idle one costs. */
const CAUTION = 3;
/** After a removal the others must stay this far below the upper bound. */
const HEADROOM = 0.9;
/** The fullest host must be above the average by so much before contexts are migrated. */
const UNEVEN_LOAD = 0.15;
const UNEVEN_BYTES = 1.5;
/** A context that takes this part of what its host does has nearly a host of its own. */
const DOMINANT = 0.9;
/** What is a part of a whole, so that it lies between 0 and 1. */
const SHARES: readonly string[] = ["utilisation"] satisfies Measure[];
/** These grow with the number of contexts on a host, so it can be told what fewer hosts would mean. */
const SHARED: readonly Measure[] = ["utilisation", "heapBytes", "stateBytes"];
const OF_MEMORY: readonly Measure[] = ["heapBytes", "stateBytes"];

const SHOWN: Readonly<Record<Measure, (value: number) => string>> = {
  utilisation: (value) => `${Math.round(value * 100)}%`,
  heapBytes: (value) => `${(value / 1e6).toFixed(0)} MB`,
  stateBytes: (value) => `${(value / 1e6).toFixed(0)} MB`,
  queueMs: (value) => `${value.toFixed(1)} ms`,
  p99Ms: (value) => `${value.toFixed(1)} ms`,
};

const SAID: Readonly<Record<Measure, string>> = {
  utilisation: "hosts are busy for",
  heapBytes: "the heaps of hosts have",
  stateBytes: "the contexts of hosts have",
  queueMs: "events wait on their hosts for",
  p99Ms: "the p99 of events is",
};

function said(measure: Measure, value: number, than: string, bound: number): string {
  const amount = `${SHOWN[measure](value)}${measure === "utilisation" ? " of the time" : ""}`;
  return `${SAID[measure]} ${amount} on average, ${than} than ${SHOWN[measure](bound)}`;
}

/**
 * Keeps measures between bounds by adding, removing and balancing hosts. It does one thing at a time, waits to see what
 * came of it, and acts only on what lasts. A host is removed only if the others would stay clear of the bound above which
 * one is added, so a steady load never makes it go back and forth.
 */
export function keep(options: KeepOptions): Policy {
  check(options);
  const keeper = new Keeper(options);
  return (now) => keeper.decide(now);
}

type Bound = readonly [Measure, readonly [number, number]];

class Keeper {
  readonly #bounds: readonly Bound[];
  readonly #options: Required<Pick<KeepOptions, "min" | "max" | "inARow" | "coolDownMs" | "doubles">>;
  #above = 0;
  #below = 0;
  #uneven = 0;
  #actedMs = Number.NEGATIVE_INFINITY;
  /** What was said last, so that it is said once. */
  #noted = "";

  constructor({ min = 1, max, inARow = 3, coolDownMs = 5000, doubles = false, ...bounds }: KeepOptions) {
    this.#options = { min, max, inARow, coolDownMs, doubles };
    this.#bounds = Object.entries(bounds) as Bound[];
  }

  decide(now: Measurements): Action[] {
    const hosts = running(now);
    const { min, max, inARow, coolDownMs } = this.#options;
    if (hosts.length < now.hosts.length || hosts.length === 0) return this.#calm(); // something is under way
    if (hosts.length < min) return this.#act(now, add(min - hosts.length, `there are to be ${min} at least`));
    if (hosts.length > max) return this.#act(now, remove(emptiest(hosts), `there are to be ${max} at most`));
    this.#count(hosts);
    const idleMs = now.timeMs - this.#actedMs;
    if (idleMs < coolDownMs) return [];
    if (this.#above >= inARow) return this.#grow(now, hosts);
    const evened = this.#uneven >= inARow ? this.#even(now) : [];
    if (evened.length > 0) return evened;
    if (this.#below >= inARow * CAUTION && idleMs >= coolDownMs * CAUTION && hosts.length > min) {
      const [measure, [low]] = this.#bounds[0] as Bound;
      const why = said(measure, mean(hosts, measure), "less", low);
      return this.#act(now, remove(emptiest(hosts), why));
    }
    return [];
  }

  #calm(): Action[] {
    this.#above = this.#below = this.#uneven = 0;
    return [];
  }

  /** Counts how long each state of affairs has lasted. */
  #count(hosts: readonly HostMeasurements[]): void {
    const isAbove = this.#bounds.some(([measure, [, high]]) => mean(hosts, measure) > high);
    const isBelow = !isAbove && this.#bounds.every(([measure, bound]) => isSpare(hosts, measure, bound));
    this.#above = isAbove ? this.#above + 1 : 0;
    this.#below = isBelow ? this.#below + 1 : 0;
    const isUneven = isUnevenInLoad(hosts) || isUnevenInBytes(hosts, this.#memory);
    this.#uneven = isUneven ? this.#uneven + 1 : 0;
  }

  /** Of what measures memory, what there are bounds for. */
  get #memory(): readonly Measure[] {
    return OF_MEMORY.filter((wanted) => this.#bounds.some(([measure]) => measure === wanted));
  }

  #grow(now: Measurements, hosts: readonly HostMeasurements[]): Action[] {
    const exceeded = this.#bounds.filter(([measure, [, high]]) => mean(hosts, measure) > high);
    const [measure, [low, high]] = exceeded[0] as Bound;
    const value = mean(hosts, measure);
    const what = said(measure, value, "more", high);
    const hot = exceeded.some(([each]) => OF_MEMORY.includes(each)) ? null : dominantContexts(hosts);
    if (hot !== null) return this.#note(`${what}; but ${hot}, and no other host could do more for it`);
    if (hosts.length >= this.#options.max)
      return this.#note(`${what}; there are ${hosts.length}, and no more are allowed`);
    const wanted = SHARED.includes(measure)
      ? Math.ceil((hosts.length * value * 2) / (low + high))
      : hosts.length + 1;
    const count = this.#options.doubles ? hosts.length : Math.max(1, wanted - hosts.length);
    return this.#act(now, add(Math.min(count, this.#options.max - hosts.length), what));
  }

  #even(now: Measurements): Action[] {
    const by = isUnevenInBytes(running(now), this.#memory) ? "bytes" : "load";
    const { moves, tooHot } = balanced(now, by);
    if (moves.length > 0) {
      const reason = `hosts are unevenly ${by === "load" ? "busy" : "full"}; ${moves.length} of the contexts move`;
      return this.#act(now, { kind: "balance", by, reason });
    }
    const [hot] = tooHot;
    if (hot === undefined) return [];
    const share =
      by === "load" ? `${SHOWN.utilisation(hot.weight)} busy` : `full with ${SHOWN.heapBytes(hot.weight)}`;
    return this.#note(
      `${hot.context} alone makes host ${hot.host} ${share}; moving it would only move the trouble`,
    );
  }

  #act(now: Measurements, action: Action): Action[] {
    this.#calm();
    this.#actedMs = now.timeMs;
    this.#noted = "";
    return [action];
  }

  #note(reason: string): Action[] {
    const kind = reason.replace(/[\d.]+/g, "");
    if (kind === this.#noted) return [];
    this.#noted = kind;
    return [{ kind: "note", reason }];
  }
}

function mean(hosts: readonly HostMeasurements[], measure: Measure): number {
  return hosts.reduce((sum, host) => sum + host[measure], 0) / hosts.length;
}

/** Would one host fewer do? */
function isSpare(
  hosts: readonly HostMeasurements[],
  measure: Measure,
  [low, high]: readonly [number, number],
): boolean {
  const value = mean(hosts, measure);
  if (value >= low) return false;
  return !SHARED.includes(measure) || (value * hosts.length) / (hosts.length - 1) <= high * HEADROOM;
}

function isUnevenInLoad(hosts: readonly HostMeasurements[]): boolean {
  const average = mean(hosts, "utilisation");
  return hosts.some(({ utilisation }) => utilisation > average + UNEVEN_LOAD);
}

function isUnevenInBytes(hosts: readonly HostMeasurements[], measures: readonly Measure[]): boolean {
  return measures.some((measure) => {
    const average = mean(hosts, measure);
    return hosts.some((host) => host[measure] > average * UNEVEN_BYTES);
  });
}

/** Hosts that are full because of one context each are not helped by more hosts. */
function dominantContexts(hosts: readonly HostMeasurements[]): string | null {
  const average = mean(hosts, "utilisation");
  const busy = hosts.filter(({ utilisation }) => utilisation >= average);
  const names: string[] = [];
  for (const { contexts } of busy) {
    const all = contexts.reduce((sum, { load }) => sum + load, 0);
    const hot = contexts.find(({ load }) => all > 0 && load >= all * DOMINANT);
    if (hot === undefined) return null;
    names.push(hot.context);
  }
  return names.length === 0 ? null : `that is because of ${names.join(", ")} alone`;
}

function emptiest(hosts: readonly HostMeasurements[]): number {
  return hosts.reduce((best, host) => (host.utilisation < best.utilisation ? host : best)).id;
}

function add(count: number, reason: string): Action {
  return { kind: "add", count, reason };
}

function remove(host: number, reason: string): Action {
  return { kind: "remove", host, reason };
}

function check({ min = 1, max, inARow = 3, coolDownMs = 5000, doubles: _, ...bounds }: KeepOptions): void {
  const wrong = (what: string) => new HeadwaterError("HW-6021", `a policy cannot keep that: ${what}.`);
  if (!Number.isSafeInteger(min) || min < 1) throw wrong(`min is ${min}, and must be a whole number above 0`);
  if (!Number.isSafeInteger(max) || max < min)
    throw wrong(`max is ${max}, and must be a whole number, at least ${min}`);
  if (!Number.isSafeInteger(inARow) || inARow < 1)
    throw wrong(`inARow is ${inARow}, and must be a whole number above 0`);
  if (!(coolDownMs >= 0)) throw wrong(`coolDownMs is ${coolDownMs}`);
  if (Object.keys(bounds).length === 0)
    throw wrong("there are no bounds. For example, `utilisation: [0.3, 0.7]`");
  for (const [measure, bound] of Object.entries(bounds)) {
    if (!(measure in SHOWN))
      throw wrong(`"${measure}" is not measured; there are ${Object.keys(SHOWN).join(", ")}`);
    const [low, high] = Array.isArray(bound) ? (bound as number[]) : [];
    if (!(typeof low === "number" && typeof high === "number" && low >= 0 && low < high)) {
      throw wrong(
        `the bounds of ${measure} are ${JSON.stringify(bound)}, and must be two numbers, the lower one first`,
      );
    }
    if (SHARES.includes(measure) && high > 1)
      throw wrong(
        `the bounds of ${measure} are ${JSON.stringify(bound)}, and must be shares between 0 and 1: [0.3, 0.7]`,
      );
  }
}
