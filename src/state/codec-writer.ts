import { encode } from "./codec.js";

/** Longer texts are not worth looking at letter by letter. */
const TEXT_LENGTH_MAX = 40;
/** For these, the room that the longest of letters would take is too much. */
const LONG_TEXT_LENGTH_MAX = 0x4000;
/** An array header and a number of any size fit into this. */
const ROOM_MIN = 16;

/**
 * Writes values one after the other, as `encode` would write the items of one array, for callers that write many small
 * values of the same form. Numbers, short texts, booleans and null are written at once; anything else is left to
 * `encode`. What all of them begin with is written once.
 */
export class ValueWriter {
  readonly #start: number;
  #bytes: Uint8Array;
  #view: DataView;
  #buffer: Buffer;
  #at: number;

  constructor(start: Uint8Array) {
    this.#start = start.length;
    this.#at = start.length;
    this.#bytes = new Uint8Array(Math.max(256, start.length * 2));
    this.#bytes.set(start);
    this.#view = new DataView(this.#bytes.buffer);
    this.#buffer = Buffer.from(this.#bytes.buffer);
  }

  /** Forgets what was written and not ended, which happens only if a value could not be written. */
  begin(): void {
    this.#at = this.#start;
  }

  /** How an array of at most 15 items begins. */
  array(length: number): void {
    this.#reserve(ROOM_MIN);
    this.#bytes[this.#at++] = 0x90 | length;
  }

  value(value: unknown): void {
    switch (typeof value) {
      case "number":
        return this.#number(value);
      case "string":
        if (value.length <= TEXT_LENGTH_MAX ? this.#ascii(value) : this.#longAscii(value)) return;
        return this.raw(encode(value));
      case "boolean":
        return this.#byte(value ? 0xc3 : 0xc2);
      default:
        if (value === null) return this.#byte(0xc0);
        return this.raw(encode(value));
    }
  }

  /** What `encode` has made of a value. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** All that was written since the beginning. */
  end(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  /** The same until something else is written. */
  show(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = byte;
  }

  #number(value: number): void {
    this.#reserve(ROOM_MIN);
    const bytes = this.#bytes;
    if (value >>> 0 === value && !Object.is(value, -0)) {
      if (value < 0x80) {
        bytes[this.#at++] = value;
      } else if (value < 0x100) {
        bytes[this.#at++] = 0xcc;
        bytes[this.#at++] = value;
      } else if (value < 0x10000) {
        bytes[this.#at++] = 0xcd;
        bytes[this.#at++] = value >> 8;
        bytes[this.#at++] = value;
      } else {
        bytes[this.#at++] = 0xce;
        this.#view.setUint32(this.#at, value);
        this.#at += 4;
      }
    } else if (value === 0) {
      this.raw(encode(value)); // which tells -0 from 0
    } else if ((value | 0) === value) {
      this.#negative(value);
    } else {
      bytes[this.#at++] = 0xcb;
      this.#view.setFloat64(this.#at, value);
      this.#at += 8;
    }
  }

  #negative(value: number): void {
    const bytes = this.#bytes;
    if (value >= -0x20) {
      bytes[this.#at++] = value;
    } else if (value >= -0x80) {
      bytes[this.#at++] = 0xd0;
      bytes[this.#at++] = value;
    } else if (value >= -0x8000) {
      bytes[this.#at++] = 0xd1;
      bytes[this.#at++] = value >> 8;
      bytes[this.#at++] = value;
    } else {
      bytes[this.#at++] = 0xd2;
      this.#view.setInt32(this.#at, value);
      this.#at += 4;
    }
  }

  #ascii(text: string): boolean {
    const { length } = text;
    this.#reserve(length + 2);
    const bytes = this.#bytes;
    let at = this.#at;
    if (length >= 0x20) bytes[at++] = 0xd9;
    bytes[at++] = length < 0x20 ? 0xa0 | length : length;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return false;
      bytes[at++] = unit;
    }
    this.#at = at;
    return true;
  }

  /** If it takes as many bytes as it has letters, it has no others. */
  #longAscii(text: string): boolean {
    const { length } = text;
    if (length > LONG_TEXT_LENGTH_MAX) return false;
    const head = length < 0x100 ? 2 : 3;
    this.#reserve(head + length * 3);
    if (this.#buffer.write(text, this.#at + head) !== length) return false;
    this.#bytes[this.#at++] = length < 0x100 ? 0xd9 : 0xda;
    if (length >= 0x100) this.#bytes[this.#at++] = length >> 8;
    this.#bytes[this.#at++] = length;
    this.#at += length;
    return true;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const larger = new Uint8Array((this.#at + length) * 2);
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
    this.#buffer = Buffer.from(larger.buffer);
  }
}
