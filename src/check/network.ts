/**
 * One run of a dataflow: the instances of its components, and a network in between that delivers in any order. Streams
 * have no order (section II.A), so whatever is under way may be next.
 */

import type { Stream } from "../analysis/graph.js";
import { grouped } from "../analysis/grouped.js";
import type { Coordination } from "../analysis/plan.js";
import { HeadwaterError } from "../errors.js";
import type { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import { type Bulk, keyOf, type RunInputs } from "./inputs.js";
import { Instance, type NetworkMessage, partitionOf, WHOLE } from "./instance.js";
import type { CheckPlan, PlannedComponent } from "./plan.js";
import { Contents, canonical } from "./records.js";

type Emission = readonly [output: string, record: DataRecord];
type SealPlan = Extract<Coordination, { kind: "seal" }>;

const DELIVERIES_MAX = 5000;
/** How far a stream to one instance may lag behind all others. */
const LAGS = [0, 0, 1, 2] as const;
const EAGERNESS = [0, 0.5, 1] as const;
const REPEATS = 0.4;

export interface NetworkRun {
  readonly inputs: RunInputs;
  readonly instances: readonly Instance[];
  /** What each replica of the producer put on a stream. */
  readonly contents: ReadonlyMap<string, readonly Contents[]>;
}

/** Instances that get everything together: one, or all replicas of a component whose inputs are ordered. */
interface Unit {
  readonly instances: readonly Instance[];
  readonly component: PlannedComponent;
  readonly ordered: boolean;
}

interface Pending {
  readonly to: Unit;
  readonly message: NetworkMessage;
  readonly at: number;
}

/** With the coordination that the plan says, or without any. */
export function runOnce(
  plan: CheckPlan,
  inputs: RunInputs,
  chance: Chance,
  coordinated: boolean,
): NetworkRun {
  return new Network(plan, inputs, chance, coordinated).run();
}

class Network {
  readonly #plan: CheckPlan;
  readonly #inputs: RunInputs;
  readonly #chance: Chance;
  readonly #units = new Map<string, Unit[]>();
  readonly #contents = new Map<string, Contents[]>();
  readonly #lags = new Map<string, number>();
  readonly #last = new Map<string, number>();
  readonly #eagerness: number;
  readonly #coordinated: boolean;
  /** A component with one instance, or with one order for all, reads one of a replicated producer's. */
  readonly #read: number;
  #pending: Pending[] = [];
  #messages = 0;

  constructor(plan: CheckPlan, inputs: RunInputs, chance: Chance, coordinated: boolean) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#chance = chance;
    this.#coordinated = coordinated;
    this.#eagerness = chance.pick(EAGERNESS);
    this.#read = chance.int(2);
    for (const component of plan.components) {
      const { name, replicas, coordination } = component;
      const instances = Array.from(
        { length: replicas },
        (_, replica) => new Instance(component, replica, coordinated),
      );
      const ordered = coordinated && coordination.kind === "order";
      const parts = ordered ? [instances] : instances.map((each) => [each]);
      this.#units.set(
        name,
        parts.map((part) => ({ instances: part, component, ordered })),
      );
    }
    for (const { stream } of plan.made) {
      const replicas = this.#of(stream.from?.component).flatMap(({ instances }) => instances);
      this.#contents.set(
        stream.name,
        replicas.map(() => new Contents()),
      );
    }
  }

  run(): NetworkRun {
    for (const [name, records] of this.#inputs) {
      const stream = this.#plan.analysis.topology.stream(name);
      if (stream !== undefined) this.#fromOutside(stream, records);
    }
    for (let deliveries = 0; this.#next(); deliveries++) {
      if (deliveries >= DELIVERIES_MAX) {
        throw new HeadwaterError(
          "HW-5006",
          `The dataflow does not come to rest: ${DELIVERIES_MAX} records were delivered, and there are more. ` +
            "A component of a cycle must not send on what it has sent before.",
        );
      }
    }
    return {
      inputs: this.#inputs,
      instances: [...this.#units.values()].flat().flatMap(({ instances }) => instances),
      contents: this.#contents,
    };
  }

  #of(component: string | undefined): readonly Unit[] {
    return this.#units.get(component ?? "") ?? [];
  }

  #next(): boolean {
    if (this.#pending.length > 0) {
      const first = this.#pending.reduce((a, b) => (b.at < a.at ? b : a));
      this.#pending = this.#pending.filter((each) => each !== first);
      const { to, message } = first;
      this.#each(to, (instance) => instance.deliver(message));
      const dirty = to.instances.some((each) => each.dirty);
      if (dirty && this.#chance.fraction() < this.#eagerness) this.#each(to, (instance) => instance.answer());
      return true;
    }
    const all = [...this.#units.values()].flat().sort((a, b) => a.component.rank - b.component.rank);
    const next = all.find(({ instances }) => instances.some(({ dirty, open }) => dirty || open > 0));
    if (next === undefined) return false;
    const choose = (of: number) => this.#chance.int(of);
    this.#each(next, (each) => (each.dirty ? each.answer() : each.completeOne(choose)));
    return true;
  }

  /** Replicas with one order also answer at one place in it. */
  #each({ instances }: Unit, act: (instance: Instance) => readonly Emission[]): void {
    const emitted = instances.map((instance) => ({ instance, emissions: act(instance) }));
    for (const { instance, emissions } of emitted) this.#emit(instance, emissions);
  }

  #fromOutside(stream: Stream, bulks: readonly Bulk[]): void {
    const targets = this.#of(stream.to?.component);
    for (const { record, times } of bulks) {
      for (const to of targets) {
        for (const piece of this.#pieces(times)) this.#send(to, stream, { record, times: piece });
      }
    }
    if (!this.#coordinated) return;
    for (const to of targets) {
      const { coordination } = to.component;
      const sealed =
        coordination.kind === "seal"
          ? coordination.streams.find(({ name }) => name === stream.name)
          : undefined;
      if (sealed === undefined || coordination.kind !== "seal") continue;
      if (sealed.seal?.late === true) {
        this.#queue(to, this.#message(stream, { kind: "seal", partition: WHOLE, records: null }));
      }
      if (sealed.seal === null || sealed.seal.prefix) continue;
      for (const partition of this.#partitionsOf(sealed.seal.key, coordination)) {
        const ofIt = bulks.filter(({ record }) => partitionOf(sealed, record) === partition);
        const records = ofIt.reduce((sum, { times }) => sum + times, 0);
        this.#queue(to, this.#message(stream, { kind: "seal", partition, records }));
      }
    }
  }

  /** Also partitions that only other streams name: the producer seals them as empty. */
  #partitionsOf(key: readonly string[], { streams, holds }: SealPlan): Set<string> {
    const keys = [
      key,
      ...streams.flatMap(({ seal }) => (seal === null ? [] : [seal.key])),
      ...holds.flatMap(({ by }) => (by === null ? [] : [by])),
    ];
    const records = [...this.#inputs.values()].flat().map(({ record }) => record);
    const names = keys.flatMap((each) => records.map((record) => keyOf(record, each)));
    return new Set(names.filter((name) => name !== null));
  }

  /** Equal records need not come all at once. */
  #pieces(times: number): number[] {
    if (times < 2 || this.#chance.fraction() < 0.5) return [times];
    const first = 1 + this.#chance.int(times - 1);
    return [first, times - first];
  }

  #emit(from: Instance, emitted: readonly Emission[]): void {
    for (const equal of grouped(emitted, canonical).values()) {
      const [output = "", record = {}] = equal[0] ?? [];
      const port = this.#plan.analysis.topology.output(from.component.name, output);
      if (port === undefined) {
        throw new HeadwaterError(
          "HW-5006",
          `${from.component.name} emits to "${output}", and no path of it ends there.`,
        );
      }
      for (const stream of port.streams) {
        this.#contents.get(stream.name)?.[from.replica]?.add(record);
        const bulk = { record, times: equal.length };
        for (const to of this.#receivers(from, stream)) this.#send(to, stream, bulk);
      }
    }
  }

  /** Replicas work side by side, each with its own view; what a component sends to itself is for its other replicas. */
  #receivers(from: Instance, stream: Stream): readonly Unit[] {
    const all = this.#of(stream.to?.component);
    const producers = from.component.replicas;
    if (producers === 1) return all;
    // A transport that keeps an order is one log for all that read it.
    if (orderKey(stream) !== null) return this.#read === from.replica ? all : [];
    if (all.length === 1) return this.#read === from.replica ? all : [];
    const toItself = stream.to?.component === from.component.name;
    return all.filter(({ instances }) =>
      instances.some((each) => (toItself ? each !== from : each.replica === from.replica)),
    );
  }

  #send(to: Unit, stream: Stream, bulk: Bulk): void {
    const message = this.#message(stream, { kind: "record", ...bulk });
    this.#queue(to, message);
    const repeats = stream.delivery === "at-least-once" && stream.id === undefined;
    if (repeats && this.#chance.fraction() < REPEATS) this.#queue(to, message);
  }

  #message(stream: Stream, what: NetworkMessage["what"]): NetworkMessage {
    return { id: this.#messages++, stream: stream.name, input: stream.to?.interface ?? "", what };
  }

  #queue(to: Unit, message: NetworkMessage): void {
    const lane = `${to.component.name} ${to.instances[0]?.replica} ${message.stream}`;
    let lag = this.#lags.get(lane);
    if (lag === undefined) this.#lags.set(lane, (lag = this.#chance.pick(LAGS)));
    const drawn = lag + this.#chance.fraction();
    // On a stream that keeps an order, a record does not overtake the one before it with the same key.
    const place = this.#placeInOrder(lane, message);
    const at = place === null ? drawn : Math.max(drawn, this.#last.get(place) ?? 0);
    if (place !== null) this.#last.set(place, at);
    this.#pending.push({ to, message, at });
  }

  #placeInOrder(lane: string, { stream, what }: NetworkMessage): string | null {
    const key = orderKey(this.#plan.analysis.topology.stream(stream));
    if (key === null || what.kind !== "record") return null;
    return `${lane} ${keyOf(what.record, key) ?? ""}`;
  }
}

/** The attributes by which a stream keeps an order; `null` if it keeps none. */
function orderKey(stream: Stream | undefined): readonly string[] | null {
  return stream?.singleWriter === true ? [] : (stream?.ordered ?? null);
}
