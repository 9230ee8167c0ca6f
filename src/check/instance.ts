/**
 * One instance of a component, and what waits in front of it as its plan says (section V.B.1): a sealed partition until its
 * seal and all that the seal counts have come, other records for the partitions that they meet.
 */

import { compare } from "../analysis/compare.js";
import { grouped } from "../analysis/grouped.js";
import type { Hold, SealedStream } from "../analysis/sealing.js";
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
    /** The partition is complete with so many records; `null` if they were not counted, and some may be late. */
    | { readonly kind: "seal"; readonly partition: string; readonly records: number | null };
}

/** What an instance did, in order: received a record, or came round to an answer with something new in it. */
export type Act = ({ readonly input: string } & Bulk) | { readonly answers: readonly DataRecord[] };

type Emission = readonly [output: string, record: DataRecord];

type RecordMessage = Message & { readonly what: { readonly kind: "record" } };

/** A partition is the same one in all streams of a group: a join needs both sides of it. */
interface Partition {
  readonly streams: readonly string[];
  readonly records: RecordMessage[];
  /** How many records each message had, by stream. */
  readonly seen: Map<string, Map<number, number>>;
  readonly expected: Map<string, number>;
  complete: boolean;
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
  readonly #running: Running;
  readonly #sealed = new Map<string, SealedStream>();
  readonly #holds: ReadonlyMap<string, readonly Hold[]>;
  readonly #partitions = new Map<string, Partition>();
  #held: RecordMessage[] = [];

  constructor(component: PlannedComponent, replica: number, coordinated: boolean) {
    this.component = component;
    this.replica = replica;
    const { coordination } = component;
    const { streams, holds } =
      coordinated && coordination.kind === "seal" ? coordination : { streams: [], holds: [] };
    for (const each of streams) this.#sealed.set(each.name, each);
    this.#holds = grouped(holds, ({ name }) => name);
    this.#running = new Running(component.name, component.code);
  }

  view(): unknown {
    return this.#running.view();
  }

  deliver(message: Message): Emission[] {
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
    if (sealed === undefined) return this.#admit(message);
    const partition = this.#partition(sealed, partitionOf(sealed, message.what.record));
    if (partition.complete) return this.#admit(message);
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
    const held = this.#held;
    this.#held = [];
    return [...held.flatMap((message) => this.#receive(message)), ...this.answer()];
  }

  #receive({ input, what: { record, times } }: RecordMessage): Emission[] {
    const last = this.acts.at(-1);
    const same = last !== undefined && "input" in last && last.input === input && last.record === record;
    const sum = same ? last.times + times : times;
    this.acts.splice(this.acts.length - (same ? 1 : 0), 1, { input, record, times: sum });
    this.dirty = true;
    return this.#running.receive(input, record, times);
  }

  /** Receives a record now, or when the partitions that it waits for are complete. */
  #admit(message: RecordMessage): Emission[] {
    if (this.#mayGo(message)) return this.#receive(message);
    this.#held.push(message);
    return [];
  }

  #partition({ name, with: others }: SealedStream, partition: string): Partition {
    const streams = [name, ...others].sort(compare);
    const place = JSON.stringify([streams, partition]);
    let found = this.#partitions.get(place);
    if (found === undefined) {
      found = { streams, records: [], seen: new Map(), expected: new Map(), complete: false };
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
    const emitted = sorted.flatMap((message) => this.#admit(message));
    emitted.push(...this.answer());
    const ready = this.#held.filter((message) => this.#mayGo(message));
    this.#held = this.#held.filter((message) => !ready.includes(message));
    emitted.push(...ready.flatMap((message) => this.#receive(message)));
    return ready.length > 0 ? [...emitted, ...this.answer()] : emitted;
  }

  /** A record that does not name a partition is about all of them, and so waits for the end. */
  #mayGo({ stream, what: { record } }: RecordMessage): boolean {
    return (this.#holds.get(stream) ?? []).every(({ until, by }) => {
      const sealed = this.#sealed.get(until);
      const partition = by === null ? null : keyOf(record, by);
      return sealed !== undefined && partition !== null && this.#partition(sealed, partition).complete;
    });
  }
}

function isRecord(message: Message): message is RecordMessage {
  return message.what.kind === "record";
}
