import { ByteReader, ByteWriter, widened } from "../columns/index.js";
import { ByteChunks } from "./byte-chunks.js";
import type { CheckpointPart } from "./parts.js";

/** Bytes of one round that stand for some numbered entries: rows of a result log, ids of events. */
export interface Segment {
  /** The number of its first entry. */
  readonly first: number;
  readonly entries: number;
  /** The command that made it, counted from the beginning: the order between the logs of a graph. */
  readonly round: number;
  readonly timeMs: number;
  readonly bytes: Buffer;
}

const NOTHING_HELD = { from: Number.POSITIVE_INFINITY, bytes: 0 };

/** A segment in memory is these numbers and its bytes: a service has millions of them, and an object for each is slow to collect. */
const FIELDS = { first: 0, entries: 1, round: 2, timeMs: 3, at: 4, length: 5 };
const WIDTH = 6;

/** What a segment takes in memory besides its bytes. */
const SEGMENT_BYTES = 8 * WIDTH;

/**
 * An append-only log of segments, trimmed at its front. A checkpoint writes the segments since the last one as one chunk, and
 * deletes chunks that lie wholly before the front; segments of a chunk that are before the front are skipped when it is loaded.
 */
export class Segments {
  #fields = new Float64Array(0);
  readonly #chunks = new ByteChunks();
  /** Segments before this index are trimmed; the array is cut when half of it is. */
  #head = 0;
  #count = 0;
  #first: number;
  #next: number;
  #bytes = 0;
  #saved: number;
  #written: { readonly first: number; readonly next: number; readonly bytes: number }[] = [];
  /** Much was trimmed that the last checkpoint still holds: the next one writes a chunk anew of which little is left. */
  isTight = false;

  constructor(first = 1) {
    this.#first = first;
    this.#next = first;
    this.#saved = first;
  }

  /** The number of the first entry that is retained. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next entry gets. */
  get next(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get all(): readonly Segment[] {
    return this.#from(this.#head);
  }

  #from(index: number, end = this.#count): Segment[] {
    return Array.from({ length: end - index }, (_, i) => this.#at(index + i));
  }

  #at(index: number): Segment {
    const [first = 0, entries = 0, round = 0, timeMs = 0, at = 0, length = 0] = this.#fields.subarray(
      WIDTH * index,
      WIDTH * (index + 1),
    );
    return { first, entries, round, timeMs, bytes: this.#chunks.read(at, length) };
  }

  #field(index: number, field: keyof typeof FIELDS): number {
    return this.#fields[WIDTH * index + FIELDS[field]] as number;
  }

  /** The bytes must not change any more, or are only lent for the call. */
  append(bytes: Buffer, entries: number, round: number, timeMs: number, isLent = false): void {
    this.#push(this.#next, entries, round, timeMs, this.#chunks.add(bytes, isLent), bytes.length);
    this.#next += entries;
  }

  #push(first: number, entries: number, round: number, timeMs: number, at: number, length: number): void {
    const place = WIDTH * this.#count;
    if (place === this.#fields.length)
      this.#fields = widened(this.#fields, new Float64Array(Math.max(8 * WIDTH, 2 * place)));
    const fields = this.#fields;
    fields[place + FIELDS.first] = first;
    fields[place + FIELDS.entries] = entries;
    fields[place + FIELDS.round] = round;
    fields[place + FIELDS.timeMs] = timeMs;
    fields[place + FIELDS.at] = at;
    fields[place + FIELDS.length] = length;
    this.#count++;
    this.#bytes += length + SEGMENT_BYTES;
  }

  /**
   * Drops segments from the front while they are more than may stay. Entries that are held stay up to another number of bytes,
   * however old they are. Returns what was dropped.
   */
  trim(
    bytesMax: number,
    olderThanMs: number,
    held: { readonly from: number; readonly bytes: number } = NOTHING_HELD,
  ): readonly Segment[] {
    let end = this.#head;
    for (let bytes = this.#bytes; end < this.#count; end++) {
      if (bytes <= bytesMax && this.#field(end, "timeMs") >= olderThanMs) break;
      const next = this.#field(end, "first") + this.#field(end, "entries");
      if (bytes <= held.bytes && next > held.from) break;
      bytes -= this.#field(end, "length") + SEGMENT_BYTES;
    }
    if (end === this.#head) return [];
    const dropped = this.#from(this.#head, end);
    for (const { bytes } of dropped) this.#bytes -= bytes.length + SEGMENT_BYTES;
    const last = dropped.at(-1);
    if (last !== undefined) this.#first = last.first + last.entries;
    this.#chunks.free(this.#field(end - 1, "at") + this.#field(end - 1, "length"));
    this.#head = end;
    if (2 * this.#head > this.#count) {
      this.#fields = this.#fields.slice(WIDTH * this.#head, WIDTH * this.#count);
      this.#count -= this.#head;
      this.#head = 0;
    }
    return dropped;
  }

  /** The segments from that of the entry `from` on, up to some bytes, but at least one if there is one. */
  read(from: number, bytesMax: number): readonly Segment[] {
    const found: Segment[] = [];
    let bytes = 0;
    for (let i = this.#indexOf(from); i < this.#count; i++) {
      bytes += this.#field(i, "length");
      if (found.length > 0 && bytes > bytesMax) break;
      found.push(this.#at(i));
    }
    return found;
  }

  /** The index of the segment that has the entry, by binary search. */
  #indexOf(entry: number): number {
    let [low, high] = [this.#head, this.#count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#field(middle, "first") + this.#field(middle, "entries") <= entry) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Numbers that the parts do not have; the owner keeps them with its own state. */
  get position(): { readonly first: number; readonly next: number } {
    return { first: this.#first, next: this.#next };
  }

  *checkpoint(prefix: string): Generator<CheckpointPart> {
    const gone = this.#written.filter(({ next }) => next <= this.#first);
    for (const { first } of gone) yield [`${prefix}${first}`, null];
    this.#written = this.#written.filter(({ next }) => next > this.#first);
    if (this.isTight) yield* this.#rewritten(prefix);
    this.isTight = false;
    const from = Math.max(this.#saved, this.#first);
    this.#saved = this.#next;
    if (from === this.#next) return;
    const added = this.#from(this.#indexOf(from));
    const chunk = chunkOf(added);
    this.#written.push({ first: from, next: this.#next, bytes: chunk.length });
    yield [`${prefix}${from}`, chunk];
  }

  /** The first chunk, if less than half of it is retained. */
  *#rewritten(prefix: string): Generator<CheckpointPart> {
    const [chunk] = this.#written;
    if (chunk === undefined || chunk.first >= this.#first) return;
    const live = chunkOf(this.#from(this.#head, this.#indexOf(chunk.next)));
    if (2 * live.length > chunk.bytes) return;
    this.#written[0] = { first: this.#first, next: chunk.next, bytes: live.length };
    yield [`${prefix}${chunk.first}`, null];
    yield [`${prefix}${this.#first}`, live];
  }

  load(position: { readonly first: number; readonly next: number }, chunks: readonly Uint8Array[]): void {
    this.#first = position.first;
    this.#next = position.next;
    this.#saved = position.next;
    const read = chunks.map((chunk) => ({ segments: segmentsOf(chunk), bytes: chunk.length }));
    read.sort((a, b) => (a.segments[0]?.first ?? 0) - (b.segments[0]?.first ?? 0));
    for (const { segments, bytes: length } of read) {
      const [head, last] = [segments[0], segments.at(-1)];
      if (head === undefined || last === undefined) continue;
      this.#written.push({ first: head.first, next: last.first + last.entries, bytes: length });
      for (const segment of segments) {
        if (segment.first < position.first) continue;
        const { first, bytes, entries, round, timeMs } = segment;
        this.#push(first, entries, round, timeMs, this.#chunks.add(bytes), bytes.length);
      }
    }
  }
}

function chunkOf(segments: readonly Segment[]): Buffer {
  const out = new ByteWriter(segments.reduce((sum, { bytes }) => sum + bytes.length + 40, 16));
  out.varint(segments.length);
  for (const { first, entries, round, timeMs, bytes } of segments) {
    out.f64(first);
    out.varint(entries);
    out.f64(round);
    out.f64(timeMs);
    out.varint(bytes.length);
    out.raw(bytes);
  }
  return out.written;
}

function segmentsOf(chunk: Uint8Array): Segment[] {
  const input = new ByteReader(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  return Array.from({ length: input.varint() }, () => ({
    first: input.f64(),
    entries: input.varint(),
    round: input.f64(),
    timeMs: input.f64(),
    bytes: Buffer.from(input.take(input.varint())), // the parts of a checkpoint are read where they may be overwritten
  }));
}
