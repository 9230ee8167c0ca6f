import type { Placement } from "../../elastic/placement.js";
import type { ContextLoad, HostMeasurements, Measurements } from "../../elastic/policy.js";
import { resolvePath } from "../../model/path.js";
import type { Slot } from "../context/index.js";
import type { HostInfo } from "../fleet/index.js";
import type { Program } from "../node/index.js";
import type { HostId } from "../ports/index.js";
import type { ContextSample } from "./context-loads.js";

/** How much of what was known counts beside what was seen last: one second says little. */
const MEMORY = 0.5;
const CONTEXTS_MAX = 1024;
/** Who does less is forgotten. */
const LOAD_NOTED = 1e-6;

/** Hosts that say what they saw of their contexts. */
export interface MeasuredHosts {
  readonly placement: Placement<HostId>;
  /** The samples of each report that has come since the last call: every report counts, and counts once. */
  takeSamples(host: HostId): readonly (readonly ContextSample[])[];
}

interface Known {
  load: number;
  perSecond: number;
  bytes: number;
  /** What one event took. */
  costMs: number;
}

/** Puts together what hosts say of themselves and of their contexts, for policies and for recorded loads. */
export class Meter {
  readonly #pool: MeasuredHosts;
  readonly #program: Program;
  readonly #known = new Map<Slot, Known>();
  #slots = new Map<string, Slot>();

  constructor(pool: MeasuredHosts, program: Program) {
    this.#pool = pool;
    this.#program = program;
  }

  /** Hosts that have not said anything yet count as starting, and drained hosts do not count. */
  measure(timeMs: number, all: readonly HostInfo[]): Measurements {
    const hosts = all.filter(
      ({ state, contexts, events }) => state !== "draining" || contexts > 0 || events > 0,
    );
    this.#slots = new Map();
    for (const { id, load } of hosts) {
      if (load === null) continue;
      for (const samples of this.#pool.takeSamples(id as HostId))
        this.#count(id as HostId, load.utilisation, samples);
    }
    for (const [unit, known] of this.#known) {
      const isIdle = known.load < LOAD_NOTED && known.bytes === 0;
      if (isIdle || !this.#isOn(unit, hosts)) this.#known.delete(unit);
    }
    return { timeMs, hosts: hosts.map((host) => this.#measured(host)) };
  }

  /** The context that a policy means. */
  named(context: string): Slot | undefined {
    return this.#slots.get(context);
  }

  /** What an event in this context takes, as far as it is known. */
  costMs(slot: Slot): number | undefined {
    return this.#known.get(this.#pool.placement.unitOf(slot))?.costMs;
  }

  /** The same on average, for those of which nothing is known. */
  get meanCostMs(): number {
    const all = [...this.#known.values()];
    const perSecond = all.reduce((sum, known) => sum + known.perSecond, 0);
    return all.reduce((sum, known) => sum + known.costMs * known.perSecond, 0) / Math.max(1, perSecond);
  }

  #count(host: HostId, utilisation: number, samples: readonly ContextSample[]): void {
    const units = new Map<Slot, { ms: number; events: number; bytes: number }>();
    let allMs = 0;
    for (const { node, path, ms, events, bytes } of samples) {
      const unit = this.#pool.placement.unitOf(resolvePath(this.#program.node(node).root, path));
      if (this.#pool.placement.of(unit) !== host) continue; // it has left since
      const own = units.get(unit) ?? { ms: 0, events: 0, bytes: 0 };
      units.set(unit, own);
      own.ms += ms;
      own.events += events;
      own.bytes += bytes;
      allMs += ms;
    }
    for (const [unit, known] of this.#known) {
      if (this.#pool.placement.of(unit) === host && !units.has(unit)) {
        known.load *= MEMORY;
        known.perSecond *= MEMORY;
        known.bytes = 0; // its host would have said so, if it still held much
      }
    }
    for (const [unit, { ms, events, bytes }] of units) {
      // Only what runs at once was timed. What comes after an await is taken to be spread in the same way.
      const load = allMs === 0 ? 0 : (utilisation * ms) / allMs;
      const known = this.#known.get(unit) ?? { load, perSecond: events, bytes, costMs: 0 };
      known.load = known.load * MEMORY + load * (1 - MEMORY);
      known.perSecond = known.perSecond * MEMORY + events * (1 - MEMORY);
      known.bytes = bytes;
      if (events > 0) known.costMs = ms / events;
      this.#known.set(unit, known);
    }
  }

  #isOn(unit: Slot, hosts: readonly HostInfo[]): boolean {
    const host = this.#pool.placement.of(unit);
    return hosts.some(({ id }) => id === host);
  }

  #measured({ id, state, load }: HostInfo): HostMeasurements {
    const own: ContextLoad[] = [];
    for (const [unit, { load: part, perSecond, bytes }] of this.#known) {
      if (this.#pool.placement.of(unit) !== id) continue;
      const context = String(unit);
      this.#slots.set(context, unit);
      const bound = this.#pool.placement.isBound(unit);
      own.push({ context, load: part, eventsPerSecond: perSecond, bytes, ...(bound ? { bound } : {}) });
    }
    const isNew = state === "running" && load === null;
    return {
      id,
      state: isNew ? "starting" : state,
      utilisation: load?.utilisation ?? 0,
      heapBytes: load?.heapBytes ?? 0,
      stateBytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      queueMs: load?.queueMs ?? 0,
      p99Ms: load?.p99Ms ?? 0,
      eventsPerSecond: load?.eventsPerSecond ?? 0,
      contexts: own.sort((a, b) => b.load - a.load || b.bytes - a.bytes).slice(0, CONTEXTS_MAX),
    };
  }
}
