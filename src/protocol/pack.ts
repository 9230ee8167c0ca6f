/**
 * Writes MessagePack: what a form (`form.ts`) is made of, and nothing else. Messages are written one behind the other
 * into one buffer, which becomes a frame, so that a small message costs no buffer of its own.
 */
export class Packer {
  #bytes = new Uint8Array(BYTES_MIN);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** Takes back what was written after there were so many bytes. */
  truncate(length: number): void {
    this.#at = length;
  }

  /** All that was written; the next message begins anew. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#at);
    this.#at = 0;
    if (this.#bytes.length > BYTES_KEPT_MAX) this.#grow(BYTES_MIN);
    return taken;
  }

  /** What is MessagePack already. */
  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** The beginning of a list of so many values. */
  list(count: number): void {
    if (count < 16) this.#byte(0x90 | count);
    else this.#long(0xdc, count);
  }

  /** The beginning of bytes that are written next; `endSection` takes what this returns. */
  beginSection(): number {
    return this.#reserve(2);
  }

  endSection(from: number): void {
    const length = this.#at - from - 2;
    if (length < 0x100) {
      this.#bytes[from] = 0xc4;
      this.#bytes[from + 1] = length;
      return;
    }
    this.#reserve(3);
    this.#bytes.copyWithin(from + 5, from + 2, from + 2 + length);
    this.#bytes[from] = 0xc6;
    this.#view.setUint32(from + 1, length);
  }

  value(form: unknown): void {
    switch (typeof form) {
      case "number":
        return this.number(form);
      case "string":
        return this.text(form);
      case "boolean":
        return this.#byte(form ? 0xc3 : 0xc2);
      case "object":
        return form === null ? this.#byte(0xc0) : this.#object(form);
      default:
        return this.#byte(0xc0);
    }
  }

  number(value: number): void {
    if (!Number.isInteger(value) || value < -0x8000_0000 || value > 0xffff_ffff) {
      const at = this.#reserve(9);
      this.#bytes[at] = 0xcb;
      this.#view.setFloat64(at + 1, value);
    } else if (value >= 0) {
      this.#natural(value);
    } else if (value >= -0x20) {
      this.#byte(0x100 + value);
    } else {
      const at = this.#reserve(5);
      this.#bytes[at] = 0xd2;
      this.#view.setInt32(at + 1, value);
    }
  }

  text(value: string): void {
    const { length } = value;
    if (length >= SHORT || !this.#shortAscii(value)) this.#utf8(value);
  }

  #natural(value: number): void {
    if (value < 0x80) return this.#byte(value);
    if (value < 0x100) {
      const at = this.#reserve(2);
      this.#bytes[at] = 0xcc;
      this.#bytes[at + 1] = value;
    } else if (value < 0x1_0000) {
      const at = this.#reserve(3);
      this.#bytes[at] = 0xcd;
      this.#bytes[at + 1] = value >> 8;
      this.#bytes[at + 2] = value;
    } else {
      const at = this.#reserve(5);
      this.#bytes[at] = 0xce;
      this.#view.setUint32(at + 1, value);
    }
  }

  /** Most texts are short names, for which a call into the encoder costs more than the text. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    const from = this.#reserve(length + 1);
    this.#bytes[from] = 0xa0 | length;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) {
        this.#at = from;
        return false;
      }
      this.#bytes[from + 1 + i] = code;
    }
    return true;
  }

  /** The length is written in as many bytes as the longest that it could be would need, so nothing is moved. */
  #utf8(value: string): void {
    const most = value.length * 3;
    const header = most < 0x100 ? 2 : most < 0x1_0000 ? 3 : 5;
    const from = this.#reserve(header + most);
    const { written } = UTF8.encodeInto(value, this.#bytes.subarray(from + header));
    if (header === 2) {
      this.#bytes[from] = 0xd9;
      this.#bytes[from + 1] = written;
    } else if (header === 3) {
      this.#bytes[from] = 0xda;
      this.#view.setUint16(from + 1, written);
    } else {
      this.#bytes[from] = 0xdb;
      this.#view.setUint32(from + 1, written);
    }
    this.#at = from + header + written;
  }

  #object(form: object): void {
    if (Array.isArray(form)) {
      this.list(form.length);
      for (let i = 0; i < form.length; i++) this.value(form[i]);
    } else if (form instanceof Uint8Array) {
      const from = this.beginSection();
      this.raw(form);
      this.endSection(from);
    } else {
      const names = Object.keys(form);
      if (names.length < 16) this.#byte(0x80 | names.length);
      else this.#long(0xde, names.length);
      for (const name of names) {
        this.text(name);
        this.value((form as Record<string, unknown>)[name]);
      }
    }
  }

  /** A count of 2 bytes, or of 4 under the next type. */
  #long(type: number, count: number): void {
    const at = this.#reserve(count < 0x1_0000 ? 3 : 5);
    if (count < 0x1_0000) {
      this.#bytes[at] = type;
      this.#view.setUint16(at + 1, count);
    } else {
      this.#bytes[at] = type + 1;
      this.#view.setUint32(at + 1, count);
    }
  }

  #byte(byte: number): void {
    const at = this.#reserve(1);
    this.#bytes[at] = byte;
  }

  /** Makes room for so many bytes and says where they begin. */
  #reserve(count: number): number {
    const from = this.#at;
    const needed = from + count;
    if (needed > this.#bytes.length) this.#grow(Math.max(needed, 2 * this.#bytes.length));
    this.#at = needed;
    return from;
  }

  #grow(length: number): void {
    const before = this.#bytes;
    this.#bytes = new Uint8Array(length);
    this.#bytes.set(before.subarray(0, this.#at));
    this.#view = new DataView(this.#bytes.buffer);
  }
}

const BYTES_MIN = 4096;
/** A large frame is no reason to hold on to as much for ever. */
const BYTES_KEPT_MAX = 1024 * 1024;
const SHORT = 32;
const UTF8 = new TextEncoder();
