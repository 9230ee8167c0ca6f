import type { ByteReader, ByteWriter } from "../columns/index.js";

/** Texts, numbers that may be missing, and bytes in records. */

export function writeText(out: ByteWriter, value: string): void {
  writeBytes(out, Buffer.from(value, "utf8"));
}

export function readText(input: ByteReader): string {
  return input.take(input.varint()).toString("utf8");
}

export function writeBytes(out: ByteWriter, bytes: Uint8Array): void {
  out.varint(bytes.length);
  out.raw(bytes);
}

export function readBytes(input: ByteReader): Buffer {
  return input.take(input.varint());
}

export function writeOptional(out: ByteWriter, value: number | null): void {
  out.u8(value === null ? 0 : 1);
  if (value !== null) out.f64(value);
}

export function readOptional(input: ByteReader): number | null {
  return input.u8() === 0 ? null : input.f64();
}
