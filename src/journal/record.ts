/**
 * The bytes of a journal.
 *
 * A commit is one value: keys and values of their own would cost more than the sync. It holds a CRC-32 of what
 * follows, then write after write: the length of the key (2 bytes), that of the value (4 bytes, all ones for a
 * deletion), the key in UTF-8, the value. All numbers have their lowest byte first.
 *
 * A value in the main table stands before a CRC-32 of its key and itself, so that neither a flipped bit nor a value
 * under the wrong key goes unnoticed.
 */

import { crc32 } from "node:zlib";
import type { Write } from "./journal.js";
import { checkKey } from "./keys.js";

const CRC_BYTES = 4;
const HEAD_BYTES = 6;
const DELETED = 0xffffffff;
const CAPACITY_MIN = 4096;
/** A buffer that one large commit needed is not kept for all the small ones that follow. */
const CAPACITY_KEPT = 4 * 2 ** 20;
const ENTRIES_BYTES = 64 * 2 ** 10;
const KEY_LOOP_MAX = 100;
const VALUE_LOOP_MAX = 64;

/** Gathers the writes of one commit. Used again for a later one, when the last one is in the file. */
export class CommitBuffer {
  #bytes = Buffer.allocUnsafeSlow(CAPACITY_MIN);
  #end = CRC_BYTES;
  #writes = 0;

  get writes(): number {
    return this.#writes;
  }

  /** All writes of a group, or an error and none of them. */
  addAll(writes: readonly Write[]): void {
    const end = this.#end;
    try {
      for (const { key, value } of writes) this.#add(key, value);
    } catch (error) {
      this.#end = end;
      throw error;
    }
    this.#writes += writes.length;
  }

  #add(key: string, value: Uint8Array | null): void {
    const valueBytes = value === null ? 0 : value.byteLength;
    if (key.length > KEY_LOOP_MAX) checkKey(key); // before there is room made for it
    this.#makeRoom(HEAD_BYTES + key.length * 3 + valueBytes);
    const bytes = this.#bytes;
    const start = this.#end;
    const keyStart = start + HEAD_BYTES;
    const keyBytes = writeKey(bytes, keyStart, key);
    const shown = value === null ? DELETED : valueBytes;
    bytes[start] = keyBytes;
    bytes[start + 1] = keyBytes >>> 8;
    bytes[start + 2] = shown;
    bytes[start + 3] = shown >>> 8;
    bytes[start + 4] = shown >>> 16;
    bytes[start + 5] = shown >>> 24;
    if (value !== null) copyBytes(bytes, keyStart + keyBytes, value);
    this.#end = keyStart + keyBytes + valueBytes;
  }

  /** The commit as it goes into the file; it stays valid until `clear`. */
  seal(): Buffer {
    this.#bytes.writeUInt32LE(crc32(this.#bytes.subarray(CRC_BYTES, this.#end)), 0);
    return this.#bytes.subarray(0, this.#end);
  }

  clear(): void {
    if (this.#bytes.length > CAPACITY_KEPT) this.#bytes = Buffer.allocUnsafeSlow(CAPACITY_MIN);
    this.#end = CRC_BYTES;
    this.#writes = 0;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Reads a commit back, in order. Returns false, before any write was handed over, if it is damaged. */
export function readCommit(bytes: Buffer, each: (key: string, value: Uint8Array | null) => void): boolean {
  if (bytes.length < CRC_BYTES || crc32(bytes.subarray(CRC_BYTES)) !== bytes.readUInt32LE(0)) return false;
  for (let at = CRC_BYTES; at < bytes.length; ) {
    const keyStart = at + HEAD_BYTES;
    const keyEnd = keyStart + bytes.readUInt16LE(at);
    const length = bytes.readUInt32LE(at + 2);
    at = length === DELETED ? keyEnd : keyEnd + length;
    each(bytes.toString("utf8", keyStart, keyEnd), length === DELETED ? null : bytes.subarray(keyEnd, at));
  }
  return true;
}

/** Keys and values as they stand in the main table, one after the other in memory that they share. */
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
function writeKey(bytes: Buffer, start: number, key: string): number {
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

function copyBytes(bytes: Buffer, start: number, value: Uint8Array): void {
  const { length } = value;
  if (length > VALUE_LOOP_MAX) bytes.set(value, start);
  else for (let i = 0; i < length; i++) bytes[start + i] = value[i] as number;
}
