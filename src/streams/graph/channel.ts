import { crc32 } from "node:zlib";
import { type Batch, decodeBatch, encodedShortly, type Schema } from "../columns/index.js";
import type { Retention } from "./definition.js";
import type { KeyedRows } from "./keyed-rows.js";
import type { GraphMoment } from "./moment.js";
import { type CheckpointPart, jsonOf, jsonPart, type OwnParts, partsBelow } from "./parts.js";
import { type Segment, Segments } from "./segments.js";

const PREFIX = "log/";
const META = "log";
/** So much of a stream waits for outputs that are behind; then they miss rows. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;

interface Meta {
  readonly first: number;
  readonly next: number;
  readonly origin: number;
  readonly watermark: number | null;
}

/**
 * A named stream of rows inside a graph: what is pushed into a stream or a table, or what comes out of a query. Its rows are
 * numbered without gaps, in the order in which they came, and the last of them are retained.
 */
export class Channel {
  #log: Segments;
  /** The first row that an output has not delivered: rows from there on stay longer than the retention says. */
  heldFrom: number | null = null;
  /** What it retains at most, whatever the retention says: its share of what the graph may. */
  bytesMax = Number.POSITIVE_INFINITY;
  #watermark: number | null = null;
  /** The number of its first row ever. */
  #origin: number;
  #saved = "";
  #sum = 0;

  constructor(
    readonly name: string,
    readonly schema: Schema,
    readonly retention: Retention,
    /** What a table or a view holds now. */
    readonly rows: KeyedRows | null,
    first: number,
  ) {
    this.#log = new Segments(first);
    this.#origin = first;
  }

  get log(): Pick<Segments, "first" | "next" | "bytes" | "all" | "read"> {
    return this.#log;
  }

  get watermark(): number | null {
    return this.#watermark;
  }

  /** Is every row that ever came still retained? */
  get isWhole(): boolean {
    return this.#log.first === this.#origin;
  }

  get memoryBytes(): number {
    return this.#log.bytes + (this.rows?.memoryBytes ?? 0);
  }

  /** Appends rows; without a retention they are not logged. `bytes` are the same rows, if they are there already: they must not change any more. */
  append(batch: Batch, moment: GraphMoment, bytes?: Uint8Array): void {
    const { grown } = moment;
    if (this.retention.bytes > 0) {
      if (bytes !== undefined) this.keep(bytes, batch.rows, moment);
      else {
        const encoded = encodedShortly(batch);
        this.#log.append(encoded, batch.rows, moment.round, moment.timeMs, true);
        this.#sumUp(encoded);
        this.trim(moment.timeMs);
      }
    }
    const batches = grown.get(this);
    if (batches === undefined) grown.set(this, [batch]);
    else batches.push(batch);
  }

  /** Appends rows to the log alone. It keeps the bytes: they must not change any more. */
  keep(bytes: Uint8Array, rows: number, { round, timeMs }: GraphMoment): void {
    const { buffer, byteOffset, byteLength } = bytes;
    const own = Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength);
    this.#log.append(own, rows, round, timeMs);
    this.#sumUp(own);
    this.trim(timeMs);
  }

  /** A batch ends with its own checksum: all bytes that end with theirs have the same one. */
  #sumUp(encoded: Buffer): void {
    this.#sum = crc32(encoded.subarray(-4), this.#sum);
  }

  /** Adds what was appended since it was last asked to a digest. */
  addTo(digest: number): number {
    const sum = this.#sum;
    this.#sum = 0;
    return crc32(`${this.name} ${this.#log.next} ${sum}`, digest);
  }

  /** Takes over the rows and the numbers of a channel whose place it takes, before it has rows of its own. */
  inherit({ log }: Pick<Channel, "log">): void {
    this.#log = new Segments(log.first);
    this.#origin = log.first;
    for (const { bytes, entries, round, timeMs } of log.all) this.#log.append(bytes, entries, round, timeMs);
  }

  /** Retains so many bytes at most from now on. */
  limit(bytesMax: number, timeMs: number): void {
    if (bytesMax < this.#log.bytes) this.#log.isTight = true;
    this.bytesMax = bytesMax;
    this.trim(timeMs);
  }

  trim(timeMs: number): void {
    const { ms } = this.retention;
    const bytes = Math.min(this.retention.bytes, this.bytesMax);
    const held = {
      from: this.heldFrom ?? Number.POSITIVE_INFINITY,
      bytes: Math.max(this.retention.bytes, HELD_BYTES_MAX),
    };
    this.#log.trim(bytes, ms === null ? Number.NEGATIVE_INFINITY : timeMs - ms, held);
  }

  /** The rows of a segment. */
  rowsOf({ bytes }: Segment): Batch {
    return decodeBatch(bytes, this.schema, Number.POSITIVE_INFINITY);
  }

  /** Returns whether the watermark has advanced. */
  advance(watermark: number | null): boolean {
    if (watermark === null || (this.#watermark !== null && watermark <= this.#watermark)) return false;
    this.#watermark = watermark;
    return true;
  }

  *checkpoint(): Generator<CheckpointPart> {
    yield* this.#log.checkpoint(PREFIX);
    if (this.rows !== null) yield* this.rows.checkpoint();
    const meta: Meta = { ...this.#log.position, origin: this.#origin, watermark: this.#watermark };
    const text = JSON.stringify(meta);
    if (text === this.#saved) return;
    this.#saved = text;
    yield [META, jsonPart(meta)];
  }

  load(parts: OwnParts): void {
    const meta = jsonOf<Meta>(parts.get(META));
    if (meta === null) return;
    this.#saved = JSON.stringify(meta);
    this.#origin = meta.origin;
    this.#watermark = meta.watermark;
    this.#log.load(
      meta,
      partsBelow(parts, PREFIX).map(([, bytes]) => bytes),
    );
    this.rows?.load(parts);
  }
}
