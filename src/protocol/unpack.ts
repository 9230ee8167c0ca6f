import { HeadwaterError } from "../errors.js";
import { cannotTravel, forbiddenField, isForbiddenField } from "./form.js";

/**
 * Reads MessagePack that a stranger may have written. It is a decoder of its own because `msgpackr`'s takes whatever
 * extension types any part of the process has registered, keeps the last of two equal keys, accepts text that is not
 * UTF-8, and has no limit on depth; it is short because a form (`form.ts`) needs no extension types at all.
 *
 * A count is believed only if the bytes for that many items are there, so that nothing is allocated on a stranger's
 * word alone.
 */
export class Unpacker {
  readonly #bytes: Uint8Array;
  readonly #strict: boolean;
  #depthMax: number;
  #numbers: DataView | null = null;
  #at = 0;
  /** Where what is being read ends. */
  #end: number;

  /** `strict`: no names of fields that code could stumble over, for what comes from outside. */
  constructor(bytes: Uint8Array, depthMax: number, strict: boolean) {
    this.#bytes = bytes;
    this.#depthMax = depthMax;
    this.#strict = strict;
    this.#end = bytes.length;
  }

  /** Made when it is needed: most of what arrives is short and holds no long numbers. */
  get #view(): DataView {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    this.#numbers ??= new DataView(buffer, byteOffset, byteLength);
    return this.#numbers;
  }

  get isDone(): boolean {
    return this.#at >= this.#end;
  }

  /** How many bytes were read. */
  get position(): number {
    return this.#at;
  }

  /** Goes back to where a value began: it is read another time. */
  rewind(position: number): void {
    this.#at = position;
  }

  /** The next value; several may stand one behind the other. */
  next(): unknown {
    return this.#value(0);
  }

  /** How many values the short list has that begins here, and that are read next; -1 if something else does. */
  list(): number {
    const type = this.#bytes[this.#at] ?? 0xc1;
    if (type < 0x90 || type >= 0xa0) return -1;
    this.#at += 1;
    return type & 0x0f;
  }

  /** How many bytes the binary value has that comes next, and that `section` reads; -1 if it is something else. */
  binaryLength(): number {
    const type = this.#bytes[this.#at] ?? 0xc1;
    if (type < 0xc4 || type > 0xc6) return -1;
    this.#at += 1;
    const length = this.#length(type - 0xc4);
    if (length > this.#end - this.#at) throw cannotTravel("it ends too early");
    return length;
  }

  /** The value that so many bytes hold, nested no deeper than told. Readable or not, the next value is behind them. */
  section(length: number, depthMax: number): unknown {
    const [depthBefore, endBefore, end] = [this.#depthMax, this.#end, this.#at + length];
    this.#depthMax = depthMax;
    this.#end = end;
    try {
      const value = this.#value(0);
      if (!this.isDone) throw new HeadwaterError("HW-4005", "there is more than a list of arguments.");
      return value;
    } finally {
      this.#depthMax = depthBefore;
      this.#at = end;
      this.#end = endBefore;
    }
  }

  #value(depth: number): unknown {
    const type = this.#bytes[this.#take(1)] ?? 0xc1;
    if (type < 0x80) return type;
    if (type < 0x90) return this.#fields(type & 0x0f, depth);
    if (type < 0xa0) return this.#items(type & 0x0f, depth);
    if (type < 0xc0) return this.#text(type & 0x1f);
    if (type >= 0xe0) return type - 0x100;
    return this.#longValue(type, depth);
  }

  #longValue(type: number, depth: number): unknown {
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#binary(this.#length(type - 0xc4));
      case 0xca:
        return this.#view.getFloat32(this.#take(4));
      case 0xcb:
        return this.#view.getFloat64(this.#take(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#length(type - 0xcc);
      case 0xcf:
        return safe(this.#view.getBigUint64(this.#take(8)));
      case 0xd0:
        return this.#view.getInt8(this.#take(1));
      case 0xd1:
        return this.#view.getInt16(this.#take(2));
      case 0xd2:
        return this.#view.getInt32(this.#take(4));
      case 0xd3:
        return safe(this.#view.getBigInt64(this.#take(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#length(type - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.#items(this.#length(type - 0xdb), depth);
      case 0xde:
      case 0xdf:
        return this.#fields(this.#length(type - 0xdd), depth);
      default:
        throw cannotTravel("it has an extension type of MessagePack, and none are used here");
    }
  }

  /** An unsigned number of 1, 2 or 4 bytes. */
  #length(power: number): number {
    if (power === 0) return this.#bytes[this.#take(1)] ?? 0;
    return power === 1 ? this.#view.getUint16(this.#take(2)) : this.#view.getUint32(this.#take(4));
  }

  /** Steps over so many bytes and says where they begin. */
  #take(count: number): number {
    const from = this.#at;
    if (count > this.#end - from) throw cannotTravel("it ends too early");
    this.#at = from + count;
    return from;
  }

  #enter(count: number, depth: number): void {
    if (depth >= this.#depthMax) throw cannotTravel(`it is nested more than ${this.#depthMax} deep`);
    if (count > this.#end - this.#at) throw cannotTravel("it ends too early");
  }

  #items(count: number, depth: number): unknown[] {
    this.#enter(count, depth);
    const items: unknown[] = [];
    for (let i = 0; i < count; i++) items.push(this.#value(depth + 1));
    return items;
  }

  #fields(count: number, depth: number): Record<string, unknown> {
    this.#enter(2 * count, depth);
    const fields: Record<string, unknown> = {};
    for (let i = 0; i < count; i++) {
      const name = this.#value(this.#depthMax);
      if (typeof name !== "string") throw cannotTravel("the name of a field is not a text");
      if (isForbiddenField(name, this.#strict)) throw forbiddenField(name);
      if (Object.hasOwn(fields, name)) {
        throw cannotTravel(`an object has the field ${JSON.stringify(name.slice(0, 40))} twice`);
      }
      fields[name] = this.#value(depth + 1);
    }
    return fields;
  }

  #binary(length: number): Uint8Array {
    const from = this.#take(length);
    return new Uint8Array(this.#bytes.subarray(from, from + length));
  }

  #text(length: number): string {
    const from = this.#take(length);
    return length < 24
      ? (this.#shortAscii(from, length) ?? this.#utf8(from, length))
      : this.#utf8(from, length);
  }

  /** Most texts are short names that come again and again, and cost less to compare than to make. */
  #shortAscii(from: number, length: number): string | null {
    let hash = length;
    for (let i = from; i < from + length; i++) {
      const byte = this.#bytes[i] ?? 0x80;
      if (byte >= 0x80) return null;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const known = NAMES[hash & (NAMES_COUNT - 1)];
    if (known !== undefined && this.#says(known, from, length)) return known;
    let text = "";
    for (let i = from; i < from + length; i++) text += String.fromCharCode(this.#bytes[i] ?? 0);
    NAMES[hash & (NAMES_COUNT - 1)] = text;
    return text;
  }

  #says(text: string, from: number, length: number): boolean {
    if (text.length !== length) return false;
    for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== this.#bytes[from + i]) return false;
    return true;
  }

  #utf8(from: number, length: number): string {
    try {
      return UTF8.decode(this.#bytes.subarray(from, from + length));
    } catch {
      throw cannotTravel("a text is not UTF-8");
    }
  }
}

const NAMES_COUNT = 512;
/** Short texts that were read lately, each at the place that its hash gives it. */
const NAMES: string[] = [];
for (let i = 0; i < NAMES_COUNT; i++) NAMES.push("");

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function safe(integer: bigint): number {
  const number = Number(integer);
  if (Number.isSafeInteger(number)) return number;
  throw cannotTravel(
    `${integer} is beyond the numbers that JavaScript counts exactly; pass a bigint or a text`,
  );
}
