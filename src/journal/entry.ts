/** Keys and values in bytes: those of a table, and the parts that a log shares with it. */

import { crc32 } from "node:zlib";
import { checkKey } from "./keys.js";

const CRC_BYTES = 4;
const ENTRIES_BYTES = 64 * 2 ** 10;
export const KEY_LOOP_MAX = 100;
const VALUE_LOOP_MAX = 64;

/**
 * Entries as they stand in a table, one after the other in memory that they share. A value stands before a CRC-32 of its
 * key and itself, so that neither a flipped bit nor a value under the wrong key goes unnoticed.
 */
export class EntryBuffer {
  #bytes = Buffer.allocUnsafeSlow(0);
  #end = 0;

  /** The entry stays as it is; the memory is not used again. */
  add(text: string, value: Uint8Array): { readonly key: Buffer; readonly stored: Buffer } {
    const needed = text.length * 3 + value.byteLength + CRC_BYTES;
    if (this.#end + needed > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(needed, ENTRIES_BYTES));
      this.#end = 0;
    }
    const bytes = this.#bytes;
    const start = this.#end;
    const valueStart = start + writeKey(bytes, start, text);
    const valueEnd = valueStart + value.byteLength;
    copyBytes(bytes, valueStart, value);
    bytes.writeUInt32LE(crc32(bytes.subarray(start, valueEnd)), valueEnd);
    this.#end = valueEnd + CRC_BYTES;
    return { key: bytes.subarray(start, valueStart), stored: bytes.subarray(valueStart, this.#end) };
  }
}

/** The value without its checksum, or null if it is damaged. */
export function unprotect(key: Buffer, bytes: Buffer): Buffer | null {
  if (bytes.length < CRC_BYTES) return null;
  const value = bytes.subarray(0, -CRC_BYTES);
  return crc32(value, crc32(key)) === bytes.readUInt32LE(value.length) ? value : null;
}

/** Nearly all keys are short and ASCII; for those, a loop is faster than a call into Node. Checks the key. */
export function writeKey(bytes: Buffer, start: number, key: string): number {
  const { length } = key;
  if (length === 0 || length > KEY_LOOP_MAX) return writeAnyKey(bytes, start, key);
  for (let i = 0; i < length; i++) {
    const unit = key.charCodeAt(i);
    if (unit >= 0x80) return writeAnyKey(bytes, start, key);
    bytes[start + i] = unit;
  }
  return length;
}

function writeAnyKey(bytes: Buffer, start: number, key: string): number {
  checkKey(key);
  return bytes.write(key, start);
}

export function copyBytes(bytes: Buffer, start: number, value: Uint8Array): void {
  const { length } = value;
  if (length > VALUE_LOOP_MAX) bytes.set(value, start);
  else for (let i = 0; i < length; i++) bytes[start + i] = value[i] as number;
}
