import { ByteReader, ByteWriter } from "../columns/index.js";
import { type CheckpointPart, jsonOf, jsonPart, type OwnParts } from "./parts.js";
import { readBytes, readText, writeBytes, writeText } from "./texts.js";

/** What a partition, a producer of it and a piece of its rows take in memory besides their bytes. */
const PARTITION_BYTES = 400;
const PRODUCER_BYTES = 60;
const PIECE_BYTES = 200;

interface Piece {
  readonly producer: string;
  readonly rows: number;
  readonly bytes: Buffer;
}

interface Meta {
  readonly key: string;
  readonly waitingFor: readonly string[];
  readonly sealedBy: readonly string[];
  readonly chunks: number;
}

/**
 * The rows of one partition until it is sealed. A checkpoint writes the pieces since the last one as a chunk of their own, so that a
 * large partition is not written again with each.
 */
export class HeldPartition {
  readonly waitingFor: Set<string>;
  readonly sealedBy = new Set<string>();
  readonly #pieces: Piece[] = [];
  #saved = 0;
  #chunks = 0;
  #isChanged = true;
  #bytes: number;

  constructor(
    readonly id: number,
    readonly key: string,
    waitingFor: Iterable<string>,
  ) {
    this.waitingFor = new Set(waitingFor);
    this.#bytes = PARTITION_BYTES + 2 * key.length + PRODUCER_BYTES * this.waitingFor.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get rows(): number {
    return this.#pieces.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** Returns how many bytes it has grown by. */
  hold(producer: string, bytes: Buffer, rows: number): number {
    this.#pieces.push({ producer, rows, bytes });
    const grown = bytes.length + PIECE_BYTES;
    this.#bytes += grown;
    this.#isChanged = true;
    return grown;
  }

  seal(producer: string): void {
    if (!this.waitingFor.delete(producer)) return;
    this.sealedBy.add(producer);
    this.#isChanged = true;
  }

  /** The producer is not waited for any more. */
  leave(producer: string): void {
    if (this.waitingFor.delete(producer)) this.#isChanged = true;
  }

  /** Its rows, by producer, those of each as they came. */
  pieces(): readonly Piece[] {
    return this.#pieces.toSorted((a, b) => (a.producer < b.producer ? -1 : Number(a.producer > b.producer)));
  }

  *checkpoint(prefix: string): Generator<CheckpointPart> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    if (this.#saved < this.#pieces.length) {
      yield [`${prefix}${this.id}/${this.#chunks++}`, chunkOf(this.#pieces.slice(this.#saved))];
      this.#saved = this.#pieces.length;
    }
    const { key, waitingFor, sealedBy } = this;
    const meta: Meta = { key, waitingFor: [...waitingFor], sealedBy: [...sealedBy], chunks: this.#chunks };
    yield [`${prefix}${this.id}`, jsonPart(meta)];
  }

  /** Deletes what checkpoints have written of it. */
  *removal(prefix: string): Generator<CheckpointPart> {
    yield [`${prefix}${this.id}`, null];
    for (let i = 0; i < this.#chunks; i++) yield [`${prefix}${this.id}/${i}`, null];
  }

  static *loaded(parts: OwnParts): Generator<HeldPartition> {
    for (const [name, bytes] of parts) {
      if (name.includes("/")) continue;
      const meta = jsonOf<Meta>(bytes);
      if (meta === null) continue;
      const made = new HeldPartition(Number(name), meta.key, meta.waitingFor);
      for (const producer of meta.sealedBy) made.sealedBy.add(producer);
      made.#bytes += PRODUCER_BYTES * meta.sealedBy.length;
      for (let i = 0; i < meta.chunks; i++)
        for (const piece of piecesIn(parts.get(`${name}/${i}`)))
          made.hold(piece.producer, piece.bytes, piece.rows);
      made.#saved = made.#pieces.length;
      made.#chunks = meta.chunks;
      made.#isChanged = false;
      yield made;
    }
  }
}

function chunkOf(pieces: readonly Piece[]): Buffer {
  const out = new ByteWriter(pieces.reduce((sum, { bytes }) => sum + bytes.length + 40, 16));
  out.varint(pieces.length);
  for (const { producer, rows, bytes } of pieces) {
    writeText(out, producer);
    out.varint(rows);
    writeBytes(out, bytes);
  }
  return out.written;
}

function piecesIn(chunk: Uint8Array | undefined): Piece[] {
  if (chunk === undefined) return [];
  const input = new ByteReader(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  return Array.from({ length: input.varint() }, () => ({
    producer: readText(input),
    rows: input.varint(),
    bytes: Buffer.from(readBytes(input)),
  }));
}
