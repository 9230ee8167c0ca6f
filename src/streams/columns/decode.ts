import { isUtf8 } from "node:buffer";
import { crc32 } from "node:zlib";
import { Batch } from "./batch.js";
import { ByteReader, unreadable } from "./bytes.js";
import type { Column } from "./column.js";
import { widthOfCodes } from "./encode.js";
import { HAS_NULLS, MARK, RAW, SAME, TAGS, VERSION, WEIGHTED, WITH_BIGS } from "./format.js";
import type { ColumnSpec, ColumnType, Schema } from "./schema.js";
import { Texts } from "./texts.js";

/** What a batch may take in memory, unless told otherwise: a few bytes can stand for many equal rows. */
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * A batch from its bytes. The checksum finds what was damaged on the way, and every count, code and value is checked
 * besides: bytes with a right checksum can still come from a stranger. Nothing is returned of a batch that is not right.
 */
export function decodeBatch(bytes: Buffer, schema: Schema, bytesMax = BYTES_MAX): Batch {
  if (bytes.length < 9) throw unreadable("it is too short");
  const body = bytes.subarray(0, bytes.length - 4);
  if (crc32(body) !== bytes.readUInt32LE(body.length)) throw unreadable("its checksum is wrong");
  const input = new ByteReader(body);
  if (input.u8() !== MARK) throw unreadable("it does not begin like one");
  const version = input.u8();
  if (version !== VERSION) throw unreadable(`it has the version ${version}, and ${VERSION} is known`);
  const flags = input.u8();
  if (flags > WEIGHTED) throw unreadable(`it has the unknown flags ${flags}`);
  const rows = input.varint();
  const count = input.varint();
  if (count !== schema.length)
    throw unreadable(`it has ${count} columns, and its stream has ${schema.length}`);
  const size = rows * (4 + 9 * count);
  if (size > bytesMax) throw unreadable(`it would take ${size} bytes, and ${bytesMax} are allowed`);
  const columns = schema.map((spec) => readColumn(input, spec, rows));
  const weights = flags === WEIGHTED ? new Int32Array(copy(input.take(4 * rows))) : null;
  if (input.left > 0) throw unreadable(`${input.left} bytes follow its end`);
  const batch = new Batch(schema, columns, weights);
  batch.rows = rows;
  return batch;
}

function readColumn(input: ByteReader, { name, type, nullable }: ColumnSpec, rows: number): Column {
  const tag = input.u8();
  if ((tag & ~HAS_NULLS) !== TAGS[type]) throw unreadable(`the column ${name} is not of the type ${type}`);
  const hasNulls = (tag & HAS_NULLS) !== 0;
  if (hasNulls && !nullable) throw unreadable(`the column ${name} has NULLs and must not`);
  const nulls = hasNulls ? input.bits(rows) : nullable ? new Uint8Array(rows) : null;
  switch (type) {
    case "int":
    case "float":
    case "timestamp": {
      const values = readNumbers(input, input.u8(), rows);
      if (type !== "float") checkNumbers(values, type, name);
      return { storage: "number", values: cleared(values, nulls), nulls };
    }
    case "bool":
      return { storage: "bool", values: cleared(input.bits(rows), nulls), nulls };
    case "text":
    case "json":
      return { storage: "text", ...readTexts(input, rows, nulls), nulls };
    case "numeric":
      return { storage: "numeric", ...readNumerics(input, rows, name, nulls), nulls };
  }
}

function readNumbers(input: ByteReader, width: number, rows: number): Float64Array {
  if (width === RAW) return readRaw(input, rows);
  const least = input.f64();
  const values = new Float64Array(rows);
  if (width === SAME) return values.fill(least);
  if (width !== 1 && width !== 2 && width !== 4) throw unreadable(`numbers have the unknown width ${width}`);
  const offsets = readCodes(input, width, rows);
  for (let i = 0; i < rows; i++) values[i] = least + (offsets[i] as number);
  return values;
}

/** Values of fewer rows are read one by one: bytes of their own for them would be garbage outside of the heap. */
const FEW_ROWS = 8;

function readRaw(input: ByteReader, rows: number): Float64Array {
  if (rows > FEW_ROWS) return new Float64Array(copy(input.take(8 * rows)));
  const values = new Float64Array(rows);
  for (let i = 0; i < rows; i++) values[i] = input.f64();
  return values;
}

/** They are valid until the next are read. */
function readCodes(input: ByteReader, width: number, rows: number): Uint8Array | Uint16Array | Uint32Array {
  const bytes = input.take(width * rows);
  if (width === 1) return bytes;
  const isShort = bytes.length <= aligned.length;
  const room = isShort ? aligned : new Uint8Array(bytes.length);
  room.set(bytes);
  return width === 2 ? new Uint16Array(room.buffer, 0, rows) : new Uint32Array(room.buffer, 0, rows);
}

function readTexts(input: ByteReader, rows: number, nulls: Uint8Array | null) {
  const count = input.varint();
  if (count > rows) throw unreadable("it has more texts than rows");
  const lengths = new Int32Array(count);
  for (let i = 0; i < count; i++) lengths[i] = input.varint();
  const texts = slicesOf(input, lengths);
  const codes = new Int32Array(rows);
  if (count > 1) codes.set(readCodes(input, widthOfCodes(count), rows));
  for (let i = 0; i < rows; i++) {
    if (nulls !== null && nulls[i] === 1) codes[i] = 0;
    else if ((codes[i] as number) >= count || (codes[i] as number) < 0) throw unreadable("a row has no text");
  }
  return { codes, texts };
}

/**
 * The texts that stand one behind the other. They stay bytes until they are asked for, and are checked together: where all of
 * them are UTF-8, and none begins within a character, each of them is.
 */
function slicesOf(input: ByteReader, lengths: Int32Array): Texts {
  const { bytes, position } = input;
  const texts = new Texts(bytes);
  const end = texts.addSlices(position, lengths);
  if (!isUtf8(input.take(end - position))) throw unreadable("a text is not UTF-8");
  let at = position;
  for (const length of lengths) {
    if (length > 0 && ((bytes[at] as number) & 0xc0) === 0x80) throw unreadable("a text is not UTF-8");
    at += length;
  }
  return texts;
}

function readNumerics(input: ByteReader, rows: number, name: string, nulls: Uint8Array | null) {
  const width = input.u8();
  const values = cleared(readNumbers(input, width === WITH_BIGS ? RAW : width, rows), nulls);
  const bigs = new Map<number, bigint>();
  const count = width === WITH_BIGS ? input.varint() : 0;
  for (let i = 0; i < count; i++) {
    const row = input.varint();
    const digits = input.take(input.varint()).toString("latin1");
    if (row >= rows || !Number.isNaN(values[row]) || !/^-?[1-9]\d{15,999}$/.test(digits))
      throw unreadable(`the column ${name} has a large number that is not one`);
    bigs.set(row, BigInt(digits));
  }
  for (let i = 0; i < rows; i++)
    if (!Number.isSafeInteger(values[i]) && !bigs.has(i))
      throw unreadable(`the column ${name} has a number that is not a scaled integer`);
  return { values, bigs };
}

function checkNumbers(values: Float64Array, type: ColumnType, name: string): void {
  for (const value of values)
    if (type === "int" ? !Number.isSafeInteger(value) : !Number.isFinite(value))
      throw unreadable(`the column ${name} has the number ${value}, which is no ${type}`);
}

/** The value of a NULL row is 0, whatever was written. */
function cleared<A extends Float64Array | Uint8Array>(values: A, nulls: Uint8Array | null): A {
  if (nulls !== null) for (let i = 0; i < nulls.length; i++) if (nulls[i] === 1) values[i] = 0;
  return values;
}

/** Where codes are put that begin anywhere among the bytes. Garbage outside of the heap makes V8 collect all of it. */
const aligned = new Uint8Array(64 * 1024);

/** Typed arrays must begin at multiples of their width, and slices of a buffer do not. */
function copy(bytes: Buffer): ArrayBuffer {
  const own = new Uint8Array(bytes.length);
  own.set(bytes);
  return own.buffer;
}

/** How many rows the bytes of a batch say that it has; 0 if they are not those of one. They are not checked otherwise. */
export function rowsIn(bytes: Buffer): number {
  if (bytes.length < 9 || bytes[0] !== MARK) return 0;
  return new ByteReader(bytes.subarray(3)).varint();
}
