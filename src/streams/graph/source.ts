import { HeadwaterError } from "../../errors.js";
import { type Batch, decodeBatch, type NumberColumn } from "../columns/index.js";
import type { PushAnswer, Refused } from "./answers.js";
import { Channel } from "./channel.js";
import type { Push } from "./command.js";
import type { StreamDefinition } from "./definition.js";
import { EventIds } from "./event-ids.js";
import { KeyedRows } from "./keyed-rows.js";
import { KeptAnswers } from "./keys.js";
import type { GraphMoment } from "./moment.js";
import { type CheckpointPart, jsonOf, jsonPart, type OwnParts } from "./parts.js";
import { Producers } from "./producers.js";
import type { Segments } from "./segments.js";

const META = "source";

interface Meta {
  readonly producers: Producers["state"];
  readonly keys: Segments["position"];
  readonly ids: Segments["position"] | null;
}

/** A stream or a table that rows are pushed into. */
export class Source {
  readonly channel: Channel;
  readonly producers: Producers;
  readonly #keys = new KeptAnswers();
  readonly #ids: EventIds | null;
  #isChanged = true;

  constructor(
    readonly definition: StreamDefinition,
    first: number,
  ) {
    const { name, columns, retention, kind, key, time, eventId, origin } = definition;
    const rows = kind === "table" ? new KeyedRows(columns, origin === undefined ? key : origin.key) : null;
    this.channel = new Channel(name, columns, retention, rows, first);
    this.producers = new Producers(time);
    this.#ids = eventId === null ? null : new EventIds(eventId);
  }

  get memoryBytes(): number {
    const { channel, producers } = this;
    return (
      channel.memoryBytes + producers.memoryBytes + this.#keys.memoryBytes + (this.#ids?.memoryBytes ?? 0)
    );
  }

  /** Takes a batch; `changes` are the rows that queries get, `null` if there are none. */
  push(push: Push, moment: GraphMoment): { readonly answer: PushAnswer; readonly changes: Batch | null } {
    const { round, timeMs } = moment;
    const { producer, sequence, key, batch: bytes } = push;
    const answer =
      (key === null ? null : this.#keys.answer(key, bytes)) ?? this.producers.answer(producer, sequence);
    if (answer !== null) return { answer, changes: null };
    const sent =
      push.rows ??
      decodeBatch(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), this.definition.columns);
    if (sent.weights !== null)
      throw new HeadwaterError("HW-5301", "a batch of columns has weights: only queries take rows back.");
    const fresh = this.#ids?.fresh(sent, round, timeMs) ?? sent;
    const { channel } = this;
    const changes = channel.rows?.upsert(fresh) ?? fresh;
    const accepted = { first: channel.log.next, rows: fresh.rows, duplicates: sent.rows - fresh.rows };
    if (changes.rows > 0) channel.append(changes, moment, changes === sent ? bytes : undefined);
    this.producers.take(producer, sequence, accepted, this.#greatestTime(sent), timeMs);
    if (key !== null) this.#keys.keep(key, bytes, accepted, round, timeMs);
    this.#isChanged = true;
    return { answer: { ...accepted, isRepeated: false }, changes: changes.rows > 0 ? changes : null };
  }

  /** Takes rows of a stream of another tenant, which may take rows back. Returns what queries get. */
  receive(bytes: Uint8Array, moment: GraphMoment): Batch {
    const { channel, definition } = this;
    const received = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const batch = decodeBatch(received, definition.columns, Number.POSITIVE_INFINITY);
    channel.append(batch, moment, bytes);
    channel.rows?.take([batch]);
    this.#isChanged = true;
    return batch;
  }

  #greatestTime(batch: Batch): number | null {
    const { time } = this.definition;
    if (time === null) return null;
    const { values, nulls } = batch.columns[time.column] as NumberColumn;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < batch.rows; i++)
      if ((nulls === null || nulls[i] === 0) && (values[i] as number) > greatest)
        greatest = values[i] as number;
    return greatest === Number.NEGATIVE_INFINITY ? null : greatest;
  }

  seal(producer: string, upTo: number | null, timeMs: number): Refused | null {
    this.#isChanged = true;
    return this.producers.seal(producer, upTo, timeMs);
  }

  /** Forgets what is too old. */
  expire(timeMs: number): void {
    this.#isChanged = true;
    this.producers.forget(timeMs);
    this.#keys.expire(timeMs);
    this.#ids?.expire(timeMs);
    this.channel.trim(timeMs);
  }

  /** The watermark as of now; `true` if it has advanced. */
  advance(timeMs: number): boolean {
    const isAdvanced = this.channel.advance(this.producers.advance(timeMs));
    this.#isChanged ||= isAdvanced;
    return isAdvanced;
  }

  *checkpoint(): Generator<CheckpointPart> {
    yield* this.channel.checkpoint();
    yield* this.#keys.checkpoint();
    if (this.#ids !== null) yield* this.#ids.checkpoint();
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const meta: Meta = {
      producers: this.producers.state,
      keys: this.#keys.position,
      ids: this.#ids?.position ?? null,
    };
    yield [META, jsonPart(meta)];
  }

  load(parts: OwnParts): void {
    this.channel.load(parts);
    const meta = jsonOf<Meta>(parts.get(META));
    if (meta === null) return;
    this.#isChanged = false;
    this.producers.load(meta.producers);
    this.#keys.load(meta.keys, parts);
    if (meta.ids !== null) this.#ids?.load(meta.ids, parts);
  }
}
