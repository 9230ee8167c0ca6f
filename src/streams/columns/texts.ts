import type { ByteWriter } from "./bytes.js";

/**
 * The texts of a column by number. A row holds a code, so that a text which occurs in many rows is decoded and kept once,
 * and copying a column copies numbers.
 *
 * A text is added as a string, or as a slice of the bytes that the batch was read from: those stay where they are until
 * the text is asked for, since most queries look at a few of a stream's columns. Codes are given out in the order of
 * adding; two codes may stand for equal texts, so equality of codes is not equality of texts.
 */
export class Texts {
  #strings: (string | undefined)[] = [];
  #source: Buffer | null;
  #bounds: Int32Array = new Int32Array(0);

  /** `source` holds valid UTF-8 wherever a slice of it is added. */
  constructor(source: Buffer | null = null) {
    this.#source = source;
  }

  /** Does a code stand for its text as long as this is there? */
  get isLasting(): boolean {
    return true;
  }

  get size(): number {
    return this.#strings.length;
  }

  get(code: number): string {
    return this.#strings[code] ?? this.#decoded(code);
  }

  add(text: string): number {
    return this.#strings.push(text) - 1;
  }

  /** Puts another text under a code that nothing holds any more. */
  protected replace(code: number, text: string): void {
    this.#strings[code] = text;
  }

  addSlice(start: number, end: number): number {
    const code = this.#strings.push(undefined) - 1;
    if (this.#bounds.length < 2 * code + 2) {
      const wider = new Int32Array(Math.max(4, 4 * code));
      wider.set(this.#bounds);
      this.#bounds = wider;
    }
    this.#bounds[2 * code] = start;
    this.#bounds[2 * code + 1] = end;
    return code;
  }

  /** Adds texts that stand one behind the other in the source, to none so far. Returns where the last one ends. */
  addSlices(from: number, lengths: Int32Array): number {
    const count = lengths.length;
    this.#strings = new Array<string | undefined>(count).fill(undefined);
    const bounds = new Int32Array(2 * count);
    let at = from;
    for (let i = 0; i < count; i++) {
      bounds[2 * i] = at;
      at += lengths[i] as number;
      bounds[2 * i + 1] = at;
    }
    this.#bounds = bounds;
    return at;
  }

  /** How many bytes a text has as UTF-8. */
  byteLength(code: number): number {
    const text = this.#strings[code];
    if (text !== undefined) return Buffer.byteLength(text);
    return (this.#bounds[2 * code + 1] as number) - (this.#bounds[2 * code] as number);
  }

  /** Writes texts one behind the other, as UTF-8: slices without decoding them, and adjacent ones as one. */
  write(codes: readonly number[], lengths: Int32Array, out: ByteWriter): void {
    let [start, end] = [0, 0];
    const source = this.#source;
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      const text = this.#strings[code];
      if (text === undefined && source !== null) {
        const from = this.#bounds[2 * code] as number;
        if (from !== end) {
          if (end > start) out.slice(source, start, end);
          start = from;
        }
        end = this.#bounds[2 * code + 1] as number;
        continue;
      }
      if (source !== null && end > start) out.slice(source, start, end);
      [start, end] = [0, 0];
      out.utf8(text ?? "", lengths[i] as number);
    }
    if (source !== null && end > start) out.slice(source, start, end);
  }

  #decoded(code: number): string {
    if (this.#source === null || code >= this.#strings.length || code < 0)
      throw new RangeError(`There is no text ${code} of ${this.#strings.length}.`);
    const text = this.#source.toString("utf8", this.#bounds[2 * code], this.#bounds[2 * code + 1]);
    this.#strings[code] = text;
    return text;
  }
}
