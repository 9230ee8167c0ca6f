import { isWellFormed } from "../../model/key.js";
import { decode, encode } from "../../state/codec.js";

/** What stands in front of a value. */
const [UNDEFINED, NULL, FALSE, TRUE, INTEGER, DOUBLE, TEXT, LIST, ENCODED] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

const CAPACITY = 16_384;
/** Room for this much is kept from batch to batch. */
const CAPACITY_KEPT = 4_194_304;
/** A number takes at most so many bytes, with what stands in front of it. */
const NUMBER_BYTES = 10;
/** Twice as large, an integer must still be one. */
const INTEGER_MAX = 2 ** 50;

/**
 * Gathers numbers, texts and values of the application as bytes, small numbers in one byte each. The first byte is left
 * free for what is known last.
 */
export class WireWriter {
  #bytes = new Uint8Array(CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  #at = 1;

  /** What there is so far, with a number below 256 in front; the writer begins again. */
  take(first: number): Uint8Array {
    const isLarge = this.#bytes.length > CAPACITY_KEPT;
    const taken = isLarge ? this.#bytes.subarray(0, this.#at) : this.#bytes.slice(0, this.#at);
    taken[0] = first;
    this.#at = 1;
    if (isLarge) this.#begin(new Uint8Array(CAPACITY)); // what was taken is not worth copying, nor keeping
    return taken;
  }

  /** How many bytes there are so far. */
  get length(): number {
    return this.#at;
  }

  /** Takes back what was written after there were so many bytes. */
  truncate(length: number): void {
    this.#at = length;
  }

  #begin(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  /** Makes room for so many numbers: a writer looks first. */
  forNumbers(count: number): this {
    this.#room(count * NUMBER_BYTES);
    return this;
  }

  #room(bytes: number): void {
    if (this.#at + bytes > this.#bytes.length) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#at + bytes));
    larger.set(this.#bytes);
    this.#begin(larger);
  }

  /** A whole number from 0. */
  uint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest = rest < 2 ** 31 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  /** A whole number, near 0 most of the time. */
  int(value: number): void {
    this.uint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  text(text: string): void {
    this.#room(3 * text.length + NUMBER_BYTES);
    const start = this.#at;
    if (text.length < 0x80 && this.#plainText(text)) return;
    this.#at = start;
    this.blob(Buffer.from(text, "utf8"));
  }

  /** Most texts are short, with a byte for each character and one for the length; false if this one is not. */
  #plainText(text: string): boolean {
    this.#bytes[this.#at++] = text.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      this.#bytes[this.#at++] = code;
    }
    return true;
  }

  blob(bytes: Uint8Array): void {
    this.#room(bytes.length + NUMBER_BYTES);
    this.uint(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A value of the application: what is neither simple nor a list of such is encoded as everywhere. */
  value(value: unknown): void {
    const start = this.#at;
    if (Array.isArray(value) ? this.#list(value) : this.#simple(value)) return;
    this.#at = start;
    this.#tag(ENCODED);
    this.blob(encode(value));
  }

  #list(list: readonly unknown[]): boolean {
    this.#tag(LIST);
    this.uint(list.length);
    for (let i = 0; i < list.length; i++) if (!this.#simple(list[i])) return false;
    return true;
  }

  /** With room for one number behind it. */
  #tag(tag: number): void {
    this.#room(NUMBER_BYTES);
    this.#bytes[this.#at++] = tag;
  }

  /** False for what it cannot write, or would change: halves of characters, integers of any length. */
  #simple(value: unknown): boolean {
    if (typeof value === "number") this.#number(value);
    else if (value === undefined) this.#tag(UNDEFINED);
    else if (value === null) this.#tag(NULL);
    else if (typeof value === "boolean") this.#tag(value ? TRUE : FALSE);
    else if (typeof value === "string" && isWellFormed(value)) {
      this.#tag(TEXT);
      this.text(value);
    } else return false;
    return true;
  }

  #number(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) <= INTEGER_MAX && !Object.is(value, -0)) {
      this.#tag(INTEGER);
      return this.int(value);
    }
    this.#tag(DOUBLE);
    this.#view.setFloat64(this.#at, value);
    this.#at += 8;
  }
}

/** Reads what a writer has written, in the same order. */
export class WireReader {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Begins; the number that stands in front is the result. */
  open(bytes: Uint8Array): number {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = 1;
    return bytes[0] ?? 0;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint(): number {
    let byte = this.#bytes[this.#at++] as number;
    let value = byte & 0x7f;
    for (let factor = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) * factor;
    }
    return value;
  }

  int(): number {
    const value = this.uint();
    if (value < 2 ** 31) return (value >>> 1) ^ -(value & 1);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const length = this.uint();
    this.#at += length;
    return this.#bytes.toString("utf8", this.#at - length, this.#at);
  }

  /** A view of the batch, for as long as it is needed. */
  blob(): Uint8Array {
    const length = this.uint();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  value(): unknown {
    switch (this.#bytes[this.#at++]) {
      case UNDEFINED:
        return undefined;
      case NULL:
        return null;
      case FALSE:
        return false;
      case TRUE:
        return true;
      case INTEGER:
        return this.int();
      case DOUBLE:
        this.#at += 8;
        return this.#bytes.readDoubleBE(this.#at - 8);
      case TEXT:
        return this.text();
      case LIST: {
        const list = new Array<unknown>(this.uint());
        for (let i = 0; i < list.length; i++) list[i] = this.value();
        return list;
      }
      default:
        return decode(this.blob());
    }
  }
}
