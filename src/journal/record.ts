/**
 * The bytes of a journal.
 *
 * A commit is one value: keys and values of their own would cost more than the sync. It holds a CRC-32 of what
 * follows, then write after write: the length of the key (2 bytes), that of the value (4 bytes, all ones for a
 * deletion), the key in UTF-8, the value. All numbers have their lowest byte first.
 *
 * A value in the main table stands behind a CRC-32 of its key and itself, so that neither a flipped bit nor a value
 * under the wrong key goes unnoticed.
 */

import { crc32 } from "node:zlib";

const CRC_BYTES = 4;
const HEAD_BYTES = 6;
const DELETED = 0xffffffff;
const CAPACITY_MIN = 4096;
/** A buffer that one large commit needed is not kept for all the small ones that follow. */
const CAPACITY_KEPT = 4 * 2 ** 20;

/** Gathers the writes of one commit. Used again for a later one, when the last one is in the file. */
export class CommitBuffer {
  #bytes = Buffer.allocUnsafeSlow(CAPACITY_MIN);
  #end = CRC_BYTES;
  #writes = 0;

  get writes(): number {
    return this.#writes;
  }

  add(key: string, value: Uint8Array | null): void {
    const valueBytes = value === null ? 0 : value.byteLength;
    this.#makeRoom(HEAD_BYTES + key.length * 3 + valueBytes);
    const bytes = this.#bytes;
    const start = this.#end;
    const keyBytes = bytes.write(key, start + HEAD_BYTES);
    bytes.writeUInt16LE(keyBytes, start);
    bytes.writeUInt32LE(value === null ? DELETED : valueBytes, start + 2);
    this.#end = start + HEAD_BYTES + keyBytes + valueBytes;
    if (value !== null) bytes.set(value, start + HEAD_BYTES + keyBytes);
    this.#writes += 1;
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

/** A value as it stands in the main table. */
export function protect(key: Buffer, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(CRC_BYTES + value.byteLength);
  bytes.set(value, CRC_BYTES);
  bytes.writeUInt32LE(crc32(value, crc32(key)), 0);
  return bytes;
}

/** The value without its checksum, or null if it is damaged. */
export function unprotect(key: Buffer, bytes: Buffer): Buffer | null {
  if (bytes.length < CRC_BYTES) return null;
  const value = bytes.subarray(CRC_BYTES);
  return crc32(value, crc32(key)) === bytes.readUInt32LE(0) ? value : null;
}
