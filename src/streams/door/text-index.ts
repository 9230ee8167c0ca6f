import type { Texts } from "../columns/index.js";

/** Beyond so many different texts in a batch, a column is not one whose texts repeat. */
const ENTRIES_MAX = 1 << 15;

/**
 * Codes of short texts by their bytes: a text that was seen in the batch gets the code that it has. Open addressing with
 * linear probing over hashes that the reader computed while it looked for the end of the text; entries whose hash agrees
 * are compared byte by byte.
 */
export class TextIndex {
  #slots = new Int32Array(256).fill(-1);
  #codes: number[] = [];
  #hashes: number[] = [];
  #starts: number[] = [];
  #ends: number[] = [];

  clear(): void {
    this.#slots.fill(-1);
    this.#codes = [];
    this.#hashes = [];
    this.#starts = [];
    this.#ends = [];
  }

  /** The code of the text from `start` to `end`; `texts` is over the same bytes. */
  code(bytes: Buffer, start: number, end: number, hash: number, texts: Texts): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (hash ^ (hash >>> 15)) & mask;
    for (let entry = slots[at] as number; entry >= 0; entry = slots[at] as number) {
      if (this.#hashes[entry] === hash && this.#isSame(entry, bytes, start, end))
        return this.#codes[entry] as number;
      at = (at + 1) & mask;
    }
    const code = texts.addSlice(start, end);
    if (this.#codes.length >= ENTRIES_MAX) return code;
    slots[at] = this.#codes.push(code) - 1;
    this.#hashes.push(hash);
    this.#starts.push(start);
    this.#ends.push(end);
    if (2 * this.#codes.length > slots.length) this.#widen();
    return code;
  }

  #isSame(entry: number, bytes: Buffer, start: number, end: number): boolean {
    let known = this.#starts[entry] as number;
    if ((this.#ends[entry] as number) - known !== end - start) return false;
    for (let i = start; i < end; i++) if (bytes[i] !== bytes[known++]) return false;
    return true;
  }

  #widen(): void {
    const slots = new Int32Array(2 * this.#slots.length).fill(-1);
    const mask = slots.length - 1;
    for (const [entry, hash] of this.#hashes.entries()) {
      let at = (hash ^ (hash >>> 15)) & mask;
      while ((slots[at] as number) >= 0) at = (at + 1) & mask;
      slots[at] = entry;
    }
    this.#slots = slots;
  }
}
