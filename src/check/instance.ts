/**
 * One instance of a component and what waits in front of it. A sealed partition waits until its seal and all that the
 * seal counts have come, and is then processed as one, in an order that does not depend on chance; a read waits for the
 * partitions that it is about (section V.B.1).
 */

import { compare } from "../analysis/compare.js";
import { type DataRecord, Running } from "./component.js";
import { type Bulk, keyOf } from "./inputs.js";
import type { PlannedComponent } from "./plan.js";
import { canonical } from "./records.js";

export interface Message {
  /** A copy has the number of what it copies. */
  readonly id: number;
  readonly stream: string;
  readonly input: string;
  readonly what:
    | ({ readonly kind: "record" } & Bulk)
    /** The partition is complete with so many records. */
    | { readonly kind: "seal"; readonly partition: string; readonly records: number };
}

/** What an instance did, in order: received a record, or came round to an answer with something new in it. */
export type Act = ({ readonly input: string } & Bulk) | { readonly answers: readonly DataRecord[] };

type Emission = readonly [output: string, record: DataRecord];

/** A partition goes through all sealed streams of a component: a join needs both sides of it. */
interface Partition {
  readonly records: ({ readonly input: string } & Bulk)[];
  /** How many records each message had, by stream. */
  readonly seen: Map<string, Map<number, number>>;
  readonly expected: Map<string, number>;
  complete: boolean;
}

/** The only partition of a stream with a watermark: which windows there are is known to nobody here. */
const WHOLE = "whole";

export class Instance {
  readonly component: PlannedComponent;
  readonly replica: number;
  readonly acts: Act[] = [];
  /** It has got something since it last answered. */
  dirty = false;
  readonly #running: Running;
  readonly #sealing: boolean;
  readonly #partitions = new Map<string, Partition>();
  #held: Message[] = [];

  constructor(component: PlannedComponent, replica: number, sealing: boolean) {
    this.component = component;
    this.replica = replica;
    this.#sealing = sealing;
    this.#running = new Running(component.name, component.code);
  }

  view(): unknown {
    return this.#running.view();
  }

  deliver(message: Message): Emission[] {
    const { input, stream, what } = message;
    const seal = this.#sealing ? this.component.buffered.get(stream) : undefined;
    if (what.kind === "seal") {
      if (seal === undefined) return [];
      const partition = this.#partition(what.partition);
      partition.expected.set(stream, what.records);
      return this.#settled(partition);
    }
    if (this.#sealing && this.component.held.has(input) && !this.#mayRead(message)) {
      this.#held.push(message);
      return [];
    }
    if (seal === undefined) return this.#receive(input, what);
    const name = seal.prefix ? WHOLE : (keyOf(what.record, seal.key) ?? WHOLE);
    const partition = this.#partition(name);
    if (partition.complete) return this.#receive(input, what);
    partition.records.push({ input, record: what.record, times: what.times });
    const seen = partition.seen.get(stream) ?? new Map<number, number>();
    partition.seen.set(stream, seen.set(message.id, what.times));
    return this.#settled(partition);
  }

  /** What a component answers when it gets round to it. */
  answer(): Emission[] {
    this.dirty = false;
    if (!this.#running.answers) return [];
    const emitted = this.#running.answer();
    if (emitted.length > 0) this.acts.push({ answers: emitted.map(([, record]) => record) });
    return emitted;
  }

  get open(): number {
    return [...this.#partitions.values()].filter(({ complete }) => !complete).length + this.#held.length;
  }

  /**
   * When nothing is under way any more, what waits in front of nobody upstream is complete. Streams between components
   * are sealed like this: it is later than a real seal, but all that a component can notice is in which order it gets its
   * partitions.
   */
  completeOne(choose: (of: number) => number): Emission[] {
    const waiting = [...this.#partitions.values()].filter(({ complete }) => !complete);
    const partition = waiting[choose(waiting.length)];
    if (partition !== undefined) return this.#complete(partition);
    const held = this.#held;
    this.#held = [];
    const emitted = held.flatMap(({ input, what }) =>
      what.kind === "record" ? this.#receive(input, what) : [],
    );
    return [...emitted, ...this.answer()];
  }

  #receive(input: string, { record, times }: Bulk): Emission[] {
    const last = this.acts.at(-1);
    const same = last !== undefined && "input" in last && last.input === input && last.record === record;
    const sum = same ? last.times + times : times;
    this.acts.splice(this.acts.length - (same ? 1 : 0), 1, { input, record, times: sum });
    this.dirty = true;
    return this.#running.receive(input, record, times);
  }

  #partition(name: string): Partition {
    let partition = this.#partitions.get(name);
    if (partition === undefined) {
      partition = { records: [], seen: new Map(), expected: new Map(), complete: false };
      this.#partitions.set(name, partition);
    }
    return partition;
  }

  #settled(partition: Partition): Emission[] {
    const arrived = (stream: string) =>
      [...(partition.seen.get(stream)?.values() ?? [])].reduce((sum, times) => sum + times, 0);
    const all = [...this.component.buffered.keys()].every(
      (stream) => partition.expected.get(stream) === arrived(stream),
    );
    return all && !partition.complete ? this.#complete(partition) : [];
  }

  #complete(partition: Partition): Emission[] {
    partition.complete = true;
    const sorted = partition.records.toSorted((a, b) => compare(canonical(a.record), canonical(b.record)));
    const emitted = sorted.flatMap(({ input, ...bulk }) => this.#receive(input, bulk));
    emitted.push(...this.answer());
    const ready = this.#held.filter((message) => this.#mayRead(message));
    this.#held = this.#held.filter((message) => !ready.includes(message));
    for (const { input, what } of ready)
      if (what.kind === "record") emitted.push(...this.#receive(input, what));
    if (ready.length > 0) emitted.push(...this.answer());
    return emitted;
  }

  /** A read that does not name a partition is about all of them, and so waits for the end. */
  #mayRead({ input, what }: Message): boolean {
    const writers = this.component.held.get(input) ?? null;
    return (
      writers?.every((stream) => {
        const seal = this.component.buffered.get(stream);
        const name = what.kind === "record" && seal?.prefix === false ? keyOf(what.record, seal.key) : null;
        return name !== null && this.#partitions.get(name)?.complete === true;
      }) === true
    );
  }
}
