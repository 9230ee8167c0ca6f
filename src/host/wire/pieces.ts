import type { Write } from "../../journal/journal.js";
import type { Path } from "../../model/path.js";
import { decode, encode } from "../../state/codec.js";

/**
 * A part of contexts that are being copied, as binary data, so that the head passes it on as it is. One item after the
 * other: a context, what the keys that follow begin with, a key and its value, a key that is gone.
 */
const [CONTEXT, WHOLE_CONTEXT, PREFIX, PUT, DELETE] = [0, 1, 2, 3, 4] as const;

/** What an item has in front of its bytes: what it is and how many they are, twice for a key and its value. */
const HEAD_BYTES = 9;

/** A write takes hosts as long as so many bytes, however short it is. */
const WRITE_BYTES = 300;

const DOUBLINGS_MAX = 4;

/** How large a piece may get, if small ones are of so many bytes. */
export function largest(bytes: number): number {
  return bytes * 2 ** DOUBLINGS_MAX;
}

/** One write of a piece. */
export interface PieceWrite extends Write {
  readonly path: Path;
  /** Does it begin a whole state? What there was before is not part of it. */
  readonly isFirst: boolean;
}

/** Puts writes together, those of one context in a row. */
export class PieceWriter {
  #bytes: Buffer;
  #at = 0;
  #path: Path | null = null;
  #prefix = "";
  #writes = 0;

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes + (bytes >> 2));
  }

  /** How much it is for hosts. */
  get weight(): number {
    return this.#at + this.#writes * WRITE_BYTES;
  }

  /** The value is copied. */
  add(path: Path, isFirst: boolean, { key, value }: Write): void {
    this.#writes += 1;
    if (isFirst || path !== this.#path) {
      this.#path = path;
      this.#item(isFirst ? WHOLE_CONTEXT : CONTEXT, encode(path));
    }
    const start = key.lastIndexOf("\0") + 1;
    if (start !== this.#prefix.length || !key.startsWith(this.#prefix)) {
      this.#prefix = key.slice(0, start);
      this.#item(PREFIX, Buffer.from(this.#prefix));
    }
    const rest = key.slice(start);
    this.#reserve(HEAD_BYTES + rest.length * 3 + (value?.length ?? 0));
    const head = this.#at;
    const length = this.#bytes.write(rest, head + HEAD_BYTES);
    this.#bytes[head] = value === null ? DELETE : PUT;
    this.#bytes.writeUInt32LE(length, head + 1);
    this.#bytes.writeUInt32LE(value?.length ?? 0, head + 5);
    this.#at += HEAD_BYTES + length;
    if (value === null) return;
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** All of it. Nothing may be added after that. */
  end(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #item(kind: number, bytes: Uint8Array): void {
    this.#reserve(HEAD_BYTES + bytes.length);
    this.#bytes[this.#at] = kind;
    this.#bytes.writeUInt32LE(bytes.length, this.#at + 1);
    this.#bytes.writeUInt32LE(0, this.#at + 5);
    this.#bytes.set(bytes, this.#at + HEAD_BYTES);
    this.#at += HEAD_BYTES + bytes.length;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow((this.#at + length) * 2);
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** The writes of a piece. Their values are parts of it. */
export function* writesIn(piece: Uint8Array): Generator<PieceWrite> {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  let path: Path = [];
  let isFirst = false;
  let prefix = "";
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes[at];
    const start = at + HEAD_BYTES;
    const end = start + bytes.readUInt32LE(at + 1);
    const valueEnd = end + bytes.readUInt32LE(at + 5);
    at = valueEnd;
    if (kind === PUT || kind === DELETE) {
      const key = prefix + bytes.toString("utf8", start, end);
      yield { path, isFirst, key, value: kind === PUT ? bytes.subarray(end, valueEnd) : null };
      isFirst = false;
    } else if (kind === PREFIX) prefix = bytes.toString("utf8", start, end);
    else {
      path = decode(bytes.subarray(start, end)) as Path;
      isFirst = kind === WHOLE_CONTEXT;
    }
  }
}
