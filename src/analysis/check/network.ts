/**
 * One run of a dataflow: the instances of its components, and a network in between that delivers in any order. Streams
 * have no order (section II.A), so whatever is under way may be next.
 */

import { HeadwaterError } from "../../errors.js";
import type { Stream } from "../graph.js";
import type { Chance } from "./chance.js";
import type { DataRecord } from "./component.js";
import { type Inputs, keyOf } from "./inputs.js";
import { Instance, type Message } from "./instance.js";
import type { Plan } from "./plan.js";
import { Contents } from "./records.js";

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
          "HW-5005",
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

  #fromOutside(stream: Stream, records: readonly DataRecord[]): void {
    const targets = this.#of(stream.to?.component);
    for (const record of records) {
      const id = this.#messages++;
      for (const to of targets) this.#send(to, stream, { id, kind: "record", record });
    }
    for (const to of this.#sealing ? targets : []) {
      const seal = to.component.buffered.get(stream.name);
      if (seal === undefined || seal.prefix) continue;
      for (const partition of this.#partitionsOf(seal.key)) {
        const count = records.filter((record) => keyOf(record, seal.key) === partition).length;
        this.#send(to, stream, { id: -1, kind: "seal", partition, records: count });
      }
    }
  }

  /** Also those that only a request asks for: that there is nothing in them is for the producer to say. */
  #partitionsOf(key: readonly string[]): Set<string> {
    const all = [...this.#inputs.values()].flat().map((record) => keyOf(record, key));
    return new Set(all.filter((name) => name !== null));
  }

  #emit(from: Instance, emitted: readonly (readonly [string, DataRecord])[]): void {
    for (const [output, record] of emitted) {
      const port = this.#plan.analysis.topology.output(from.component.name, output);
      if (port === undefined) {
        throw new HeadwaterError(
          "HW-5005",
          `${from.component.name} emits to "${output}", and no path of it ends there.`,
        );
      }
      for (const stream of port.streams) {
        this.#contents.get(stream.name)?.[from.replica]?.add(record);
        const id = this.#messages++;
        for (const to of this.#receivers(from, stream))
          this.#send(to, stream, { id, kind: "record", record });
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

  #send(to: Instance, stream: Stream, sent: { id: number } & Message["what"]): void {
    const { id, ...what } = sent;
    const message: Message = { id, stream: stream.name, input: stream.to?.interface ?? "", what };
    this.#queue(to, message);
    const repeats = stream.delivery === "at-least-once" && stream.id === undefined && what.kind === "record";
    if (repeats && this.#chance.fraction() < REPEATS) this.#queue(to, message);
  }

  #queue(to: Instance, message: Message): void {
    const lane = `${to.component.name} ${to.replica} ${message.stream}`;
    let lag = this.#lags.get(lane);
    if (lag === undefined) this.#lags.set(lane, (lag = this.#chance.pick(LAGS)));
    this.#pending.push({ to, message, at: lag + this.#chance.fraction() });
  }
}
