import { ByteReader, ByteWriter } from "../columns/index.js";
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

/** What a segment takes in memory besides its bytes. */
const SEGMENT_BYTES = 120;

/**
 * An append-only log of segments, trimmed at its front. A checkpoint writes the segments since the last one as one chunk, and
 * deletes chunks that lie wholly before the front; segments of a chunk that are before the front are skipped when it is loaded.
 */
export class Segments {
  #items: Segment[] = [];
  /** Segments before this index are trimmed; the array is cut when half of it is. */
  #head = 0;
  #first: number;
  #next: number;
  #bytes = 0;
  #saved: number;
  #chunks: { readonly first: number; readonly next: number }[] = [];

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
    return this.#items.slice(this.#head);
  }

  append(bytes: Buffer, entries: number, round: number, timeMs: number): Segment {
    const segment = { first: this.#next, entries, round, timeMs, bytes };
    this.#items.push(segment);
    this.#next += entries;
    this.#bytes += bytes.length + SEGMENT_BYTES;
    return segment;
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
    const from = this.#head;
    for (let oldest = this.#items[this.#head]; oldest !== undefined; oldest = this.#items[this.#head]) {
      if (this.#bytes <= bytesMax && oldest.timeMs >= olderThanMs) break;
      if (this.#bytes <= held.bytes && oldest.first + oldest.entries > held.from) break;
      this.#bytes -= oldest.bytes.length + SEGMENT_BYTES;
      this.#first = oldest.first + oldest.entries;
      this.#head++;
    }
    const dropped = this.#items.slice(from, this.#head);
    if (2 * this.#head > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return dropped;
  }

  /** The segments from that of the entry `from` on, up to some bytes, but at least one if there is one. */
  read(from: number, bytesMax: number): readonly Segment[] {
    const found: Segment[] = [];
    let bytes = 0;
    for (let i = this.#indexOf(from); i < this.#items.length; i++) {
      const segment = this.#items[i] as Segment;
      bytes += segment.bytes.length;
      if (found.length > 0 && bytes > bytesMax) break;
      found.push(segment);
    }
    return found;
  }

  /** The index of the segment that has the entry, by binary search. */
  #indexOf(entry: number): number {
    let [low, high] = [this.#head, this.#items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { first, entries } = this.#items[middle] as Segment;
      if (first + entries <= entry) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Numbers that the parts do not have; the owner keeps them with its own state. */
  get position(): { readonly first: number; readonly next: number } {
    return { first: this.#first, next: this.#next };
  }

  *checkpoint(prefix: string): Generator<CheckpointPart> {
    const gone = this.#chunks.filter(({ next }) => next <= this.#first);
    for (const { first } of gone) yield [`${prefix}${first}`, null];
    this.#chunks = this.#chunks.filter(({ next }) => next > this.#first);
    const from = Math.max(this.#saved, this.#first);
    this.#saved = this.#next;
    if (from === this.#next) return;
    const added = this.#items.slice(this.#indexOf(from));
    this.#chunks.push({ first: from, next: this.#next });
    yield [`${prefix}${from}`, chunkOf(added)];
  }

  load(position: { readonly first: number; readonly next: number }, chunks: readonly Uint8Array[]): void {
    this.#first = position.first;
    this.#next = position.next;
    this.#saved = position.next;
    const read = chunks.map(segmentsOf).sort((a, b) => (a[0]?.first ?? 0) - (b[0]?.first ?? 0));
    for (const segments of read) {
      const [head, last] = [segments[0], segments.at(-1)];
      if (head === undefined || last === undefined) continue;
      this.#chunks.push({ first: head.first, next: last.first + last.entries });
      for (const segment of segments) {
        if (segment.first < position.first) continue;
        this.#items.push(segment);
        this.#bytes += segment.bytes.length + SEGMENT_BYTES;
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
    bytes: Buffer.from(input.take(input.varint())),
  }));
}
