import { crc32 } from "node:zlib";
import { invariant } from "../../errors.js";
import type { Batch } from "./batch.js";
import { ByteWriter } from "./bytes.js";
import type { Column, NumericColumn, TextColumn } from "./column.js";
import { HAS_NULLS, MARK, RAW, SAME, TAGS, VERSION, WEIGHTED, WITH_BIGS } from "./format.js";

/** Batches are written here and copied when their length is known. Larger ones are not kept room for. */
const SCRATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Where codes are made: garbage outside of the heap makes V8 collect all of it. */
const CODES = new ArrayBuffer(64 * 1024);
/** Values of fewer rows are written one by one, which costs less than to look at them as bytes. */
const FEW_ROWS = 16;
/** Where texts of small batches are numbered. */
const ROOM = 1024;
const PLACES = new Int32Array(ROOM);
const NUMBERS = new Int32Array(ROOM);
const LENGTHS = new Int32Array(ROOM);
let scratch: Buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** A batch as bytes, in the form that `format.ts` describes. */
export function encodeBatch(batch: Batch): Buffer {
  const written = encodedShortly(batch);
  const bytes = Buffer.allocUnsafe(written.length);
  written.copy(bytes);
  return bytes;
}

/** The same bytes where they are written: they are there until the next batch is encoded. */
export function encodedShortly(batch: Batch): Buffer {
  const { rows, schema, columns, weights } = batch;
  const out = new ByteWriter(scratch);
  out.u8(MARK);
  out.u8(VERSION);
  out.u8(weights === null ? 0 : WEIGHTED);
  out.varint(rows);
  out.varint(columns.length);
  for (const [i, column] of columns.entries()) {
    const spec = schema[i];
    invariant(spec !== undefined, "a column has no type");
    const hasNulls = column.nulls?.subarray(0, rows).includes(1) === true;
    out.u8(TAGS[spec.type] | (hasNulls ? HAS_NULLS : 0));
    if (hasNulls && column.nulls !== null) out.bits(column.nulls, rows);
    writeColumn(out, column, rows);
  }
  if (weights !== null) out.raw(bytesOf(weights, rows));
  out.u32(crc32(out.written));
  scratch = out.room.length <= SCRATCH_BYTES_MAX ? out.room : scratch;
  return out.written;
}

function writeColumn(out: ByteWriter, column: Column, rows: number): void {
  switch (column.storage) {
    case "number":
      writeNumbers(out, column.values, rows);
      return;
    case "bool":
      out.bits(column.values, rows);
      return;
    case "text":
      writeTexts(out, column, rows);
      return;
    case "numeric":
      writeNumerics(out, column, rows);
  }
}

function writeNumbers(out: ByteWriter, values: Float64Array, rows: number): void {
  let [least, most, whole] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true];
  for (let i = 0; i < rows; i++) {
    const value = values[i] as number;
    if (value < least) least = value;
    if (value > most) most = value;
    whole &&= Number.isSafeInteger(value) && !(value === 0 && 1 / value < 0);
  }
  const range = most - least;
  const width =
    !whole || range > 0xffff_ffff ? RAW : range > 0xffff ? 4 : range > 0xff ? 2 : range > 0 ? 1 : SAME;
  out.u8(rows === 0 ? SAME : width);
  if (width === RAW) {
    writeRaw(out, values, rows);
    return;
  }
  out.f64(rows === 0 ? 0 : least);
  if (width === SAME) return;
  writeCodes(out, width, rows, (i) => (values[i] as number) - least);
}

function writeRaw(out: ByteWriter, values: Float64Array, rows: number): void {
  if (rows < FEW_ROWS) for (let i = 0; i < rows; i++) out.f64(values[i] as number);
  else out.raw(bytesOf(values, rows));
}

function writeCodes(out: ByteWriter, width: number, rows: number, value: (row: number) => number): void {
  if (width === 1 && rows < FEW_ROWS) {
    for (let i = 0; i < rows; i++) out.u8(value(i));
    return;
  }
  const room = 4 * rows <= CODES.byteLength ? CODES : new ArrayBuffer(4 * rows);
  const codes =
    width === 1 ? new Uint8Array(room) : width === 2 ? new Uint16Array(room) : new Uint32Array(room);
  for (let i = 0; i < rows; i++) codes[i] = value(i);
  out.raw(bytesOf(codes, rows));
}

/** Only the texts that rows of this batch have, each once, numbered by their first row. */
function writeTexts(out: ByteWriter, { codes, texts, nulls }: TextColumn, rows: number): void {
  const places = texts.size <= ROOM ? PLACES.fill(-1, 0, texts.size) : new Int32Array(texts.size).fill(-1);
  const numbers = rows <= ROOM ? NUMBERS.fill(0, 0, rows) : new Int32Array(rows);
  const used: number[] = [];
  for (let i = 0; i < rows; i++) {
    if (nulls !== null && nulls[i] === 1) continue;
    const code = codes[i] as number;
    if (places[code] === -1) places[code] = used.push(code) - 1;
    numbers[i] = places[code] as number;
  }
  out.varint(used.length);
  const lengths = used.length <= ROOM ? LENGTHS : new Int32Array(used.length);
  for (let i = 0; i < used.length; i++) {
    lengths[i] = texts.byteLength(used[i] as number);
    out.varint(lengths[i] as number);
  }
  texts.write(used, lengths, out);
  if (used.length > 1) writeCodes(out, widthOfCodes(used.length), rows, (i) => numbers[i] as number);
}

export function widthOfCodes(count: number): number {
  return count <= 0x100 ? 1 : count <= 0x1_0000 ? 2 : 4;
}

function writeNumerics(out: ByteWriter, { values, bigs, nulls }: NumericColumn, rows: number): void {
  const large: [row: number, value: bigint][] = [];
  for (const [row, value] of bigs)
    if (row < rows && Number.isNaN(values[row]) && nulls?.[row] !== 1) large.push([row, value]);
  if (large.length === 0) {
    writeNumbers(out, values, rows);
    return;
  }
  out.u8(WITH_BIGS);
  out.raw(bytesOf(values, rows));
  out.varint(large.length);
  for (const [row, value] of large) {
    const digits = Buffer.from(value.toString(), "latin1");
    out.varint(row);
    out.varint(digits.length);
    out.raw(digits);
  }
}

function bytesOf(values: Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array, rows: number) {
  return new Uint8Array(values.buffer, values.byteOffset, rows * values.BYTES_PER_ELEMENT);
}
