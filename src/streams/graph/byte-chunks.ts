/** Pieces that are larger are kept as they come. */
const SMALL_BYTES = 1024;
const CHUNK_BYTES = { least: 1024, most: 64 * 1024 };

interface Chunk {
  /** The position of its first byte. */
  readonly base: number;
  readonly bytes: Buffer;
}

/** Pieces of bytes one behind the other. Small ones share buffers, so that a log of many of them is few objects. */
export class ByteChunks {
  #chunks: Chunk[] = [];
  #end = 0;
  /** Whether small pieces go into the last chunk. */
  #isOpen = false;
  #size = CHUNK_BYTES.least;

  /** Adds a piece, which must not change any more, or is only `lent`: then it is copied. Returns its position. */
  add(bytes: Buffer, isLent = false): number {
    const at = this.#end;
    if (bytes.length > SMALL_BYTES) {
      this.#chunks.push({ base: at, bytes: isLent ? Buffer.from(bytes) : bytes });
      this.#isOpen = false;
    } else {
      const { base, bytes: chunk } = this.#room(bytes.length);
      bytes.copy(chunk, at - base);
    }
    this.#end += bytes.length;
    return at;
  }

  #room(length: number): Chunk {
    const last = this.#chunks.at(-1);
    if (this.#isOpen && last !== undefined && this.#end - last.base + length <= last.bytes.length)
      return last;
    const made = { base: this.#end, bytes: Buffer.allocUnsafeSlow(this.#size) };
    this.#size = Math.min(2 * this.#size, CHUNK_BYTES.most);
    this.#chunks.push(made);
    this.#isOpen = true;
    return made;
  }

  read(at: number, length: number): Buffer {
    let [low, high] = [0, this.#chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#chunks[middle] as Chunk).base <= at) low = middle;
      else high = middle - 1;
    }
    const { base, bytes } = this.#chunks[low] as Chunk;
    return bytes.subarray(at - base, at - base + length);
  }

  /** Nothing before a position is read any more. */
  free(before: number): void {
    let gone = 0;
    while (gone + 1 < this.#chunks.length && (this.#chunks[gone + 1] as Chunk).base <= before) gone++;
    if (gone > 0) this.#chunks.splice(0, gone);
  }
}
