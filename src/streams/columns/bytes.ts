import { HeadwaterError } from "../../errors.js";

/** Bytes that are appended to. Numbers are little-endian, as typed arrays are on every machine that Node runs on. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** `room` is where to write, or how many bytes there are likely to be. */
  constructor(room: number | Buffer = 256) {
    this.#bytes = typeof room === "number" ? Buffer.allocUnsafe(room) : room;
  }

  get room(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  u8(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.#room(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  f64(value: number): void {
    this.#room(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** Seven bits a byte, the lowest first; for counts. */
  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.u8((rest % 128) | 0x80);
    this.u8(rest);
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Part of other bytes. */
  slice(source: Buffer, start: number, end: number): void {
    this.#room(end - start);
    source.copy(this.#bytes, this.#length, start, end);
    this.#length += end - start;
  }

  /** A text of so many bytes as UTF-8. */
  utf8(text: string, length: number): void {
    this.#room(length);
    if (length === text.length) this.#bytes.write(text, this.#length, length, "latin1");
    else this.#bytes.write(text, this.#length, length, "utf8");
    this.#length += length;
  }

  /** A text as UTF-8 behind the count of its bytes. */
  text(text: string): void {
    const length = Buffer.byteLength(text, "utf8");
    this.varint(length);
    this.#room(length);
    this.#length += this.#bytes.write(text, this.#length, length, "utf8");
  }

  /** One bit per row of an array of bytes that are 0 or 1. */
  bits(values: Uint8Array, rows: number): void {
    for (let i = 0; i < rows; i += 8) {
      let byte = 0;
      for (let bit = 0; bit < 8 && i + bit < rows; bit++) byte |= (values[i + bit] as number) << bit;
      this.u8(byte);
    }
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + more));
    this.#bytes.copy(wider, 0, 0, this.#length);
    this.#bytes = wider;
  }
}

export function unreadable(why: string): HeadwaterError {
  return new HeadwaterError("HW-5301", `A batch of columns cannot be read: ${why}.`);
}

/** The other way. Everything that is read is checked: bytes come from files and from other machines. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** Where the next byte stands. */
  get position(): number {
    return this.#at;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  u8(): number {
    return this.#bytes[this.#skip(1)] as number;
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#skip(4));
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#skip(8));
  }

  varint(): number {
    let value = 0;
    for (let place = 1; place <= 128 ** 4; place *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * place;
      if (byte < 0x80 && value <= 0x7fff_ffff) return value;
    }
    throw unreadable("a count is too large");
  }

  take(length: number): Buffer {
    const start = this.#skip(length);
    return this.#bytes.subarray(start, this.#at);
  }

  /** Goes on behind so many bytes, and says where they begin. */
  #skip(length: number): number {
    if (length > this.left) throw unreadable(`it ends ${length - this.left} bytes early`);
    const start = this.#at;
    this.#at += length;
    return start;
  }

  bits(rows: number): Uint8Array {
    const packed = this.take(Math.ceil(rows / 8));
    const values = new Uint8Array(rows);
    for (let i = 0; i < rows; i++) values[i] = ((packed[i >> 3] as number) >> (i & 7)) & 1;
    const last = packed.at(-1) ?? 0;
    if (rows % 8 !== 0 && last >> (rows % 8) !== 0) throw unreadable("bits stand behind the last row");
    return values;
  }
}
