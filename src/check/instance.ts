/**
 * One instance of a component, and what waits in front of it as its plan says (section V.B.1): a sealed partition until its
 * seal and all that the seal counts have come, other records for the partitions that they meet.
 */

import { compare } from "../analysis/compare.js";
import { grouped } from "../analysis/grouped.js";
import type { Hold, SealedStream } from "../analysis/sealing.js";
import { invariant } from "../errors.js";
import { type DataRecord, RunningComponent } from "./component.js";
import { type Bulk, keyOf } from "./inputs.js";
import type { PlannedComponent } from "./plan.js";
import { canonical } from "./records.js";

export interface NetworkMessage {
  /** A copy has the number of what it copies. */
  readonly id: number;
  readonly stream: string;
  readonly input: string;
  readonly what:
    | ({ readonly kind: "record" } & Bulk)
    /** The partition is complete with so many records; `null` if they were not counted, and some may be late. */
    | { readonly kind: "seal"; readonly partition: string; readonly records: number | null };
}

/** What an instance did, in order: received a record, or came round to an answer with something new in it. */
export type Act = ({ readonly input: string } & Bulk) | { readonly answers: readonly DataRecord[] };

type Emission = readonly [output: string, record: DataRecord];

type RecordMessage = NetworkMessage & { readonly what: { readonly kind: "record" } };

/** A partition is the same one in all streams of a group: a join needs both sides of it. */
interface Partition {
  readonly streams: readonly string[];
  readonly records: RecordMessage[];
  /** How many records each message had, by stream. */
  readonly seen: Map<string, Map<number, number>>;
  readonly expected: Map<string, number>;
  complete: boolean;
  /** How much of it waits for other partitions. */
  held: number;
}

/** What is received as one: a partition, or a record that is part of none or late for its own. */
interface Waiting {
  readonly messages: readonly RecordMessage[];
  readonly partition: Partition | null;
}

/** The only partition of a stream that is complete as a whole, or up to a watermark: which windows there are is not known. */
export const WHOLE = "whole";

/** The partition that a record of a sealed stream belongs to. */
export function partitionOf({ seal }: SealedStream, record: DataRecord): string {
  return seal === null || seal.prefix ? WHOLE : (keyOf(record, seal.key) ?? WHOLE);
}

export class Instance {
  readonly component: PlannedComponent;
  readonly replica: number;
  readonly acts: Act[] = [];
  /** It has got something since it last answered. */
  dirty = false;
  readonly #running: RunningComponent;
  readonly #sealed = new Map<string, SealedStream>();
  readonly #holds: ReadonlyMap<string, readonly Hold[]>;
  readonly #partitions = new Map<string, Partition>();
  #held: Waiting[] = [];
  /** Nothing is in flight: what waits for all partitions of a stream has waited for long enough. */
  #ended = false;

  constructor(component: PlannedComponent, replica: number, coordinated: boolean) {
    this.component = component;
    this.replica = replica;
    const { coordination } = component;
    const { streams, holds } =
      coordinated && coordination.kind === "seal" ? coordination : { streams: [], holds: [] };
    for (const each of streams) this.#sealed.set(each.name, each);
    this.#holds = grouped(holds, ({ name }) => name);
    this.#running = new RunningComponent(component.name, component.code);
  }

  view(): unknown {
    return this.#running.view();
  }

  deliver(message: NetworkMessage): Emission[] {
    const { stream } = message;
    const sealed = this.#sealed.get(stream);
    if (!isRecord(message)) {
      const { what } = message;
      if (sealed === undefined || what.kind === "record") return [];
      const partition = this.#partition(sealed, what.partition);
      if (what.records === null) return partition.complete ? [] : this.#complete(partition);
      partition.expected.set(stream, what.records);
      return this.#settled(partition);
    }
    if (sealed === undefined) return this.#admit({ messages: [message], partition: null });
    const partition = this.#partition(sealed, partitionOf(sealed, message.what.record));
    if (partition.complete) return this.#admit({ messages: [message], partition });
    partition.records.push(message);
    const seen = partition.seen.get(stream) ?? new Map<number, number>();
    partition.seen.set(stream, seen.set(message.id, message.what.times));
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
   * When nothing is in flight any more, what waits here is complete. Streams between components are sealed like this: it is
   * later than a real seal, but all that a component can notice is in which order it gets its partitions.
   */
  completeOne(choose: (of: number) => number): Emission[] {
    const waiting = [...this.#partitions.values()].filter(({ complete }) => !complete);
    const partition = waiting[choose(waiting.length)];
    if (partition !== undefined) return this.#complete(partition);
    this.#ended = true;
    const emitted = this.#release();
    this.#ended = false;
    invariant(this.#held.length === 0, `streams into ${this.component.name} wait for each other`);
    return emitted;
  }

  #receive({ input, what: { record, times } }: RecordMessage): Emission[] {
    const last = this.acts.at(-1);
    const same = last !== undefined && "input" in last && last.input === input && last.record === record;
    const sum = same ? last.times + times : times;
    this.acts.splice(this.acts.length - (same ? 1 : 0), 1, { input, record, times: sum });
    this.dirty = true;
    return this.#running.receive(input, record, times);
  }

  /** Received now, or when the partitions that it waits for have been. */
  #admit(unit: Waiting): Emission[] {
    if (this.#mayGo(unit)) return unit.messages.flatMap((message) => this.#receive(message));
    this.#held.push(unit);
    if (unit.partition !== null) unit.partition.held++;
    return [];
  }

  /** What goes may be what others wait for. */
  #release(): Emission[] {
    const emitted: Emission[] = [];
    for (;;) {
      const ready = this.#held.filter((unit) => this.#mayGo(unit));
      if (ready.length === 0) return emitted;
      this.#held = this.#held.filter((each) => !ready.includes(each));
      for (const { messages, partition } of ready) {
        if (partition !== null) partition.held--;
        emitted.push(...messages.flatMap((message) => this.#receive(message)));
      }
      emitted.push(...this.answer());
    }
  }

  #partition({ name, with: others }: SealedStream, partition: string): Partition {
    const streams = [name, ...others].sort(compare);
    const place = JSON.stringify([streams, partition]);
    let found = this.#partitions.get(place);
    if (found === undefined) {
      found = { streams, records: [], seen: new Map(), expected: new Map(), complete: false, held: 0 };
      this.#partitions.set(place, found);
    }
    return found;
  }

  #settled(partition: Partition): Emission[] {
    const arrived = (stream: string) =>
      [...(partition.seen.get(stream)?.values() ?? [])].reduce((sum, times) => sum + times, 0);
    const all = partition.streams.every((stream) => partition.expected.get(stream) === arrived(stream));
    return all && !partition.complete ? this.#complete(partition) : [];
  }

  /** All of it as one, in an order that does not depend on chance; then the records that have waited for it. */
  #complete(partition: Partition): Emission[] {
    partition.complete = true;
    const text = ({ stream, what }: RecordMessage) => canonical([what.record, stream]);
    const sorted = partition.records.toSorted((a, b) => compare(text(a), text(b)));
    const emitted = [...this.#admit({ messages: sorted, partition }), ...this.answer()];
    return [...emitted, ...this.#release()];
  }

  #mayGo({ messages }: Waiting): boolean {
    return messages.every(({ stream, what: { record } }) =>
      (this.#holds.get(stream) ?? []).every((hold) => this.#isOver(hold, record)),
    );
  }

  /** A record that does not name a partition is about all of them, and so waits for the end. */
  #isOver({ until, by }: Hold, record: DataRecord): boolean {
    const sealed = this.#sealed.get(until);
    const name = by === null ? null : keyOf(record, by);
    if (sealed === undefined) return false;
    if (name === null) {
      const waits = ({ messages }: Waiting) => messages.some(({ stream }) => stream === until);
      return this.#ended && !this.#held.some(waits);
    }
    const partition = this.#partition(sealed, name);
    return partition.complete && partition.held === 0;
  }
}

function isRecord(message: NetworkMessage): message is RecordMessage {
  return message.what.kind === "record";
}
