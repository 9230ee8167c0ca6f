import { crc32 } from "node:zlib";
import { Batch } from "./batch.js";
import { ByteWriter } from "./bytes.js";
import { encodeBatch } from "./encode.js";
import { HAS_NULLS, MARK, RAW, SAME, TAGS, VERSION } from "./format.js";
import type { Cell, ColumnSpec, Schema } from "./schema.js";

/** Where a row alone is written, and copied when its length is known. */
const scratch = Buffer.allocUnsafeSlow(1024);

/** Rows as the bytes of a batch. */
export function encodeRows(schema: Schema, rows: readonly (readonly Cell[])[]): Buffer {
  const [only] = rows;
  if (only !== undefined && rows.length === 1) {
    const out = new ByteWriter(scratch);
    if (encodeRow(out, schema, only)) return Buffer.from(out.written);
  }
  return encodeBatch(Batch.of(schema, rows));
}

/**
 * Writes one row as `encodeBatch` would write a batch of it, without making columns first: a row alone is cheap then. Returns
 * whether it could: a decimal beyond 2^53 is written by `encodeBatch` only.
 */
export function encodeRow(out: ByteWriter, schema: Schema, cells: readonly Cell[]): boolean {
  if (cells.some((cell) => typeof cell === "bigint")) return false;
  const start = out.length;
  out.u8(MARK);
  out.u8(VERSION);
  out.u8(0);
  out.varint(1);
  out.varint(schema.length);
  for (let i = 0; i < schema.length; i++) writeCell(out, schema[i] as ColumnSpec, cells[i] as Cell);
  out.u32(crc32(out.written.subarray(start)));
  return true;
}

function writeCell(out: ByteWriter, { type }: ColumnSpec, cell: Cell): void {
  out.u8(cell === null ? TAGS[type] | HAS_NULLS : TAGS[type]);
  if (cell === null) out.u8(1);
  switch (type) {
    case "bool":
      out.u8(cell === true ? 1 : 0);
      return;
    case "text":
    case "json":
      out.u8(cell === null ? 0 : 1);
      if (cell !== null) out.text(String(cell));
      return;
    default:
      writeNumber(out, cell === null ? 0 : Number(cell));
  }
}

function writeNumber(out: ByteWriter, value: number): void {
  out.u8(Number.isSafeInteger(value) && !Object.is(value, -0) ? SAME : RAW);
  out.f64(value);
}
