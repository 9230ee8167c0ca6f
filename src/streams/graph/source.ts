import { HeadwaterError } from "../../errors.js";
import { type Batch, decodeBatch, isTimestamp, type NumberColumn } from "../columns/index.js";
import { isRefused, type PushAnswer, type Refused } from "./answers.js";
import { Channel } from "./channel.js";
import type { Push } from "./command.js";
import type { StreamDefinition } from "./definition.js";
import { EventIds } from "./event-ids.js";
import { PartitionHold } from "./hold.js";
import { KeyedRows } from "./keyed-rows.js";
import { KeptAnswers } from "./keys.js";
import type { GraphMoment } from "./moment.js";
import { type CheckpointPart, jsonOf, jsonPart, type OwnParts } from "./parts.js";
import { Producers } from "./producers.js";
import type { Released } from "./released.js";
import type { Segments } from "./segments.js";

const META = "source";

interface Meta {
  readonly producers: Producers["state"];
  readonly keys: Segments["position"];
  readonly ids: Segments["position"] | null;
}

/** What came of a batch: the rows that queries get, and those of partitions that are sealed now; `null` if there are none. */
interface Taken {
  readonly answer: PushAnswer;
  readonly changes: Batch | null;
  readonly released: Released | null;
}

/** A stream or a table that rows are pushed into. */
export class Source {
  readonly channel: Channel;
  readonly producers: Producers;
  readonly #keys = new KeptAnswers();
  readonly #ids: EventIds | null;
  /** Holds rows for queries that wait until a partition is sealed. */
  readonly hold: PartitionHold | null;
  #isChanged = true;

  constructor(
    readonly definition: StreamDefinition,
    first: number,
  ) {
    const { name, columns, retention, kind, key, time, eventId, origin, seals } = definition;
    const rows = kind === "table" ? new KeyedRows(columns, origin === undefined ? key : origin.key) : null;
    this.channel = new Channel(name, columns, retention, rows, first);
    this.producers = new Producers(time);
    this.#ids = eventId === null ? null : new EventIds(eventId);
    this.hold = seals === undefined ? null : new PartitionHold(seals, columns);
  }

  get memoryBytes(): number {
    const { channel, producers } = this;
    return (
      channel.memoryBytes +
      producers.memoryBytes +
      this.#keys.memoryBytes +
      (this.#ids?.memoryBytes ?? 0) +
      (this.hold?.memoryBytes ?? 0)
    );
  }

  push(push: Push, moment: GraphMoment): Taken {
    const { round, timeMs } = moment;
    const { producer, sequence, key, batch: bytes, seals = null } = push;
    const keyed = seals === null ? bytes : Buffer.concat([bytes, seals]);
    const answer =
      (key === null ? null : this.#keys.answer(key, keyed)) ??
      this.producers.answer(producer, sequence) ??
      (seals !== null && this.hold === null ? notSealed(this.definition.name) : null);
    if (answer !== null) return { answer, changes: null, released: null };
    const sent =
      push.rows ??
      decodeBatch(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), this.definition.columns);
    if (sent.weights !== null)
      throw new HeadwaterError("HW-5301", "a batch of columns has weights: only queries take rows back.");
    if (push.rows === undefined) checkTimes(sent);
    const { rows: fresh, ids } = this.#ids?.fresh(sent) ?? { rows: sent, ids: [] };
    const held = this.hold?.admit(producer, fresh, seals, bytes.length) ?? null;
    if (held !== null && isRefused(held)) return { answer: held, changes: null, released: null };
    this.#ids?.add(ids, round, timeMs);
    const { channel } = this;
    const changes = channel.rows?.upsert(fresh) ?? fresh;
    const accepted = { first: channel.log.next, rows: fresh.rows, duplicates: sent.rows - fresh.rows };
    if (changes.rows > 0) channel.append(changes, moment, changes === sent ? bytes : undefined);
    this.producers.take(producer, sequence, accepted, this.#greatestTime(sent), timeMs);
    if (key !== null) this.#keys.keep(key, keyed, accepted, round, timeMs);
    this.#isChanged = true;
    return {
      answer: { ...accepted, isRepeated: false },
      changes: changes.rows > 0 ? changes : null,
      released: held === null ? null : this.#released(this.hold?.take(held, moment), moment),
    };
  }

  /** Declares the producers that contribute to partitions from now on. Returns the rows of partitions that are complete then. */
  declare(producers: readonly string[], moment: GraphMoment): Released | null | Refused {
    if (this.hold === null) return notSealed(this.definition.name);
    return this.#released(this.hold.declare(producers, moment), moment);
  }

  /** Readers that wait for a seal are woken like readers that wait for rows. */
  #released(released: Released | null | undefined, { grown }: GraphMoment): Released | null {
    if (released === null || released === undefined) return null;
    grown.set(this.channel, grown.get(this.channel) ?? []);
    return released;
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

  seal(producer: string, upTo: number | null, moment: GraphMoment): Released | null | Refused {
    this.#isChanged = true;
    const refused = this.producers.seal(producer, upTo, moment.timeMs, this.hold?.producers ?? []);
    if (refused !== null || upTo !== null) return refused;
    return this.#released(this.hold?.finish(producer, moment), moment);
  }

  /** Forgets what is too old. */
  expire(timeMs: number): void {
    this.#isChanged = true;
    this.producers.forget(timeMs);
    this.#keys.expire(timeMs);
    this.#ids?.expire(timeMs);
    this.hold?.expire(timeMs);
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
    if (this.hold !== null) yield* this.hold.checkpoint();
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
    this.hold?.load(parts);
    const meta = jsonOf<Meta>(parts.get(META));
    if (meta === null) return;
    this.#isChanged = false;
    this.producers.load(meta.producers);
    this.#keys.load(meta.keys, parts);
    if (meta.ids !== null) this.#ids?.load(meta.ids, parts);
  }
}

/** Columns come as numbers, of which not all are times that can be written and read again. */
function checkTimes({ schema, columns, rows }: Batch): void {
  for (const [i, { name, type }] of schema.entries()) {
    if (type !== "timestamp") continue;
    const at = (columns[i] as NumberColumn).values.subarray(0, rows).findIndex((ms) => !isTimestamp(ms));
    if (at < 0) continue;
    const why = `row ${at + 1} has no time of the years 1 to 9999 in the column ${name}.`;
    throw new HeadwaterError("HW-5301", `a batch of columns cannot be read: ${why}`);
  }
}

function notSealed(name: string): Refused {
  return {
    code: "HW-5411",
    message: `the partitions of "${name}" are not sealed: it was not registered with the columns and the producers of seals.`,
  };
}
