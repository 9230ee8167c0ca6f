/**
 * One run of a dataflow: the instances of its components, and a network in between that delivers in any order. Streams
 * have no order (section II.A), so whatever is under way may be next.
 */

import type { Stream } from "../analysis/graph.js";
import { grouped } from "../analysis/grouped.js";
import { HeadwaterError } from "../errors.js";
import type { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import { type Bulk, type Inputs, keyOf } from "./inputs.js";
import { Instance, type Message } from "./instance.js";
import type { Plan } from "./plan.js";
import { Contents, canonical } from "./records.js";

const DELIVERIES_MAX = 5000;
/** How far a stream to one instance may lag behind all others. */
const LAGS = [0, 0, 1, 2] as const;
const EAGERNESS = [0, 0.5, 1] as const;
const REPEATS = 0.4;

export interface Run {
  readonly inputs: Inputs;
  readonly instances: readonly Instance[];
  /** What each replica of the producer put on a stream. */
  readonly contents: ReadonlyMap<string, readonly Contents[]>;
}

interface Pending {
  readonly to: Instance;
  readonly message: Message;
  readonly at: number;
}

export function runOnce(plan: Plan, inputs: Inputs, chance: Chance, sealing: boolean): Run {
  return new Network(plan, inputs, chance, sealing).run();
}

class Network {
  readonly #plan: Plan;
  readonly #inputs: Inputs;
  readonly #chance: Chance;
  readonly #instances = new Map<string, Instance[]>();
  readonly #contents = new Map<string, Contents[]>();
  readonly #lags = new Map<string, number>();
  readonly #eagerness: number;
  readonly #sealing: boolean;
  /** A component with one instance reads one of a replicated producer's. */
  readonly #read: number;
  #pending: Pending[] = [];
  #messages = 0;

  constructor(plan: Plan, inputs: Inputs, chance: Chance, sealing: boolean) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#chance = chance;
    this.#sealing = sealing;
    this.#eagerness = chance.pick(EAGERNESS);
    this.#read = chance.int(2);
    for (const component of plan.components) {
      const instances = Array.from(
        { length: component.replicas },
        (_, replica) => new Instance(component, replica, sealing),
      );
      this.#instances.set(component.name, instances);
    }
    for (const { stream } of plan.made) {
      const replicas = this.#of(stream.from?.component).length;
      this.#contents.set(
        stream.name,
        Array.from({ length: replicas }, () => new Contents()),
      );
    }
  }

  run(): Run {
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
      instances: [...this.#instances.values()].flat(),
      contents: this.#contents,
    };
  }

  #of(component: string | undefined): readonly Instance[] {
    return this.#instances.get(component ?? "") ?? [];
  }

  #next(): boolean {
    if (this.#pending.length > 0) {
      const first = this.#pending.reduce((a, b) => (b.at < a.at ? b : a));
      this.#pending = this.#pending.filter((each) => each !== first);
      const { to, message } = first;
      this.#emit(to, to.deliver(message));
      if (to.dirty && this.#chance.fraction() < this.#eagerness) this.#emit(to, to.answer());
      return true;
    }
    const all = [...this.#instances.values()].flat().sort((a, b) => a.component.rank - b.component.rank);
    const next = all.find(({ dirty, open }) => dirty || open > 0);
    if (next === undefined) return false;
    this.#emit(next, next.dirty ? next.answer() : next.completeOne((of) => this.#chance.int(of)));
    return true;
  }

  #fromOutside(stream: Stream, bulks: readonly Bulk[]): void {
    const targets = this.#of(stream.to?.component);
    for (const { record, times } of bulks) {
      for (const to of targets) {
        for (const piece of this.#pieces(times)) this.#send(to, stream, { record, times: piece });
      }
    }
    for (const to of this.#sealing ? targets : []) {
      const seal = to.component.buffered.get(stream.name);
      if (seal === undefined || seal.prefix) continue;
      for (const partition of this.#partitionsOf(seal.key)) {
        const ofIt = bulks.filter(({ record }) => keyOf(record, seal.key) === partition);
        const records = ofIt.reduce((sum, { times }) => sum + times, 0);
        this.#queue(to, this.#message(stream, { kind: "seal", partition, records }));
      }
    }
  }

  /** Also those that only a request asks for: that there is nothing in them is for the producer to say. */
  #partitionsOf(key: readonly string[]): Set<string> {
    const all = [...this.#inputs.values()].flat().map(({ record }) => keyOf(record, key));
    return new Set(all.filter((name) => name !== null));
  }

  /** Equal records need not come all at once. */
  #pieces(times: number): number[] {
    if (times < 2 || this.#chance.fraction() < 0.5) return [times];
    const first = 1 + this.#chance.int(times - 1);
    return [first, times - first];
  }

  #emit(from: Instance, emitted: readonly (readonly [string, DataRecord])[]): void {
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
  #receivers(from: Instance, stream: Stream): readonly Instance[] {
    const all = this.#of(stream.to?.component);
    const producers = from.component.replicas;
    if (stream.to?.component === from.component.name && producers > 1) {
      return all.filter((each) => each !== from);
    }
    if (producers === 1) return all;
    if (all.length === 1) return this.#read === from.replica ? all : [];
    return all.filter(({ replica }) => replica === from.replica);
  }

  #send(to: Instance, stream: Stream, bulk: Bulk): void {
    const message = this.#message(stream, { kind: "record", ...bulk });
    this.#queue(to, message);
    const repeats = stream.delivery === "at-least-once" && stream.id === undefined;
    if (repeats && this.#chance.fraction() < REPEATS) this.#queue(to, message);
  }

  #message(stream: Stream, what: Message["what"]): Message {
    return { id: this.#messages++, stream: stream.name, input: stream.to?.interface ?? "", what };
  }

  #queue(to: Instance, message: Message): void {
    const lane = `${to.component.name} ${to.replica} ${message.stream}`;
    let lag = this.#lags.get(lane);
    if (lag === undefined) this.#lags.set(lane, (lag = this.#chance.pick(LAGS)));
    this.#pending.push({ to, message, at: lag + this.#chance.fraction() });
  }
}
