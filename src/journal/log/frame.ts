/**
 * The bytes of a log. A frame is one group commit: a head of 32 bytes, the writes, a mark of 4 bytes, zeros up to the next
 * multiple of 32. All numbers have their lowest byte first.
 *
 *     head    CRC-32 of the rest of the head, length of the writes, CRC-32 of the writes, kind,
 *             sequence (8 bytes), epoch, index of the segment
 *     write   length of the key (2 bytes), length of the value (4 bytes, all ones for a deletion), key in UTF-8, value
 *
 * The head names its own place (epoch, segment, sequence), so that a frame counts only where it was written. Its own checksum
 * makes the length trustworthy before the writes are read, and lets a reader find the next frame behind a damaged one.
 * The mark is written last: a frame without it was cut off while it was written.
 */

import { crc32 } from "node:zlib";
import { copyBytes, KEY_LOOP_MAX, writeKey } from "../entry.js";
import type { Write } from "../journal.js";
import { checkKey } from "../keys.js";

/** Frames begin at multiples of it, so no head lies in two pages: an interrupted write leaves a head whole or absent. */
export const ALIGNMENT = 32;
export const HEAD_BYTES = 32;
const MARK_BYTES = 4;
const WRITE_HEAD_BYTES = 6;
const DELETED = 0xffffffff;
const CAPACITY_MIN = 4096;
/** A buffer that one large frame needed is not kept for all the small ones that follow. */
const CAPACITY_KEPT = 16 * 2 ** 20;
const MARK = 0x4d415259;

/**
 * A group of writes; the last frame of a log that was closed. In a stream also: a part of a group that continues in the next
 * message, the beginning of an epoch, and the end of one whose head hands over.
 */
export type FrameKind = "group" | "close" | "part" | "epoch" | "handover";
const KINDS: readonly FrameKind[] = ["group", "close", "part", "epoch", "handover"];

/** Where a frame stands. */
export interface FramePlace {
  readonly epoch: number;
  readonly segment: number;
  readonly sequence: number;
}

export interface FrameHead extends FramePlace {
  readonly kind: FrameKind;
  readonly length: number;
  readonly crc: number;
}

/** How many bytes a frame with so many bytes of writes takes. */
export function frameBytes(length: number): number {
  return Math.ceil((HEAD_BYTES + length + MARK_BYTES) / ALIGNMENT) * ALIGNMENT;
}

/** Gathers the writes of one frame. Used again for a later one, once the log has it. */
export class FrameBuffer {
  #bytes: Buffer;
  #end = HEAD_BYTES;
  #writes = 0;

  /** With room for so many bytes of writes; it grows. */
  constructor(capacity: number = CAPACITY_MIN - HEAD_BYTES) {
    this.#bytes = Buffer.allocUnsafeSlow(frameBytes(capacity));
  }

  get writes(): number {
    return this.#writes;
  }

  /** Bytes of the writes. */
  get length(): number {
    return this.#end - HEAD_BYTES;
  }

  /** The writes as they will be in the frame; valid until something is added. */
  get content(): Buffer {
    return this.#bytes.subarray(HEAD_BYTES, this.#end);
  }

  /** All writes of a group, or an error and none of them. */
  addAll(writes: readonly Write[]): void {
    const end = this.#end;
    let bytes = 0;
    for (const { value } of writes) bytes += value?.byteLength ?? 0;
    this.#makeRoom(bytes); // at once: a group can be a checkpoint of many megabytes
    try {
      for (const { key, value } of writes) this.#add(key, value);
    } catch (error) {
      this.#end = end;
      throw error;
    }
    this.#writes += writes.length;
  }

  /** Writes that are in this form already. */
  addRaw(bytes: Uint8Array): void {
    this.#makeRoom(bytes.byteLength);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.byteLength;
    this.#writes += 1;
  }

  #add(key: string, value: Uint8Array | null): void {
    const valueBytes = value === null ? 0 : value.byteLength;
    if (key.length > KEY_LOOP_MAX) checkKey(key); // before there is room made for it
    this.#makeRoom(WRITE_HEAD_BYTES + key.length * 3 + valueBytes);
    const bytes = this.#bytes;
    const start = this.#end;
    const keyStart = start + WRITE_HEAD_BYTES;
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

  /** The frame as it goes into the log; it stays valid until `clear`. */
  seal({ epoch, segment, sequence }: FramePlace, kind: FrameKind = "group"): Buffer {
    const end = this.#end;
    const total = frameBytes(end - HEAD_BYTES);
    this.#makeRoom(total - end);
    const bytes = this.#bytes;
    bytes.writeUInt32LE(end - HEAD_BYTES, 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(HEAD_BYTES, end)), 8);
    bytes.writeUInt32LE(KINDS.indexOf(kind) + 1, 12);
    bytes.writeBigUInt64LE(BigInt(sequence), 16);
    bytes.writeUInt32LE(epoch, 24);
    bytes.writeUInt32LE(segment, 28);
    bytes.writeUInt32LE(crc32(bytes.subarray(4, HEAD_BYTES)), 0);
    bytes.fill(0, end, total);
    bytes.writeUInt32LE(MARK, total - MARK_BYTES);
    return bytes.subarray(0, total);
  }

  clear(): void {
    if (this.#bytes.length > CAPACITY_KEPT) this.#bytes = Buffer.allocUnsafeSlow(CAPACITY_MIN);
    this.#end = HEAD_BYTES;
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

/** What a head says; null if these bytes are none. */
export function readHead(bytes: Buffer): FrameHead | null {
  if (bytes.length < HEAD_BYTES) return null;
  if (crc32(bytes.subarray(4, HEAD_BYTES)) !== bytes.readUInt32LE(0)) return null;
  const kind = KINDS[bytes.readUInt32LE(12) - 1];
  if (kind === undefined) return null;
  return {
    kind,
    length: bytes.readUInt32LE(4),
    crc: bytes.readUInt32LE(8),
    sequence: Number(bytes.readBigUInt64LE(16)),
    epoch: bytes.readUInt32LE(24),
    segment: bytes.readUInt32LE(28),
  };
}

/** Whether the frame was written to its end, as far as its last bytes say. */
export function hasMark(frame: Buffer): boolean {
  return frame.readUInt32LE(frame.length - MARK_BYTES) !== 0;
}

/** The writes of a frame, if they are as they were written. */
export function writesOf(frame: Buffer, { length, crc }: FrameHead): Buffer | null {
  const writes = frame.subarray(HEAD_BYTES, HEAD_BYTES + length);
  return writes.length === length && crc32(writes) === crc ? writes : null;
}

/** Reads writes back, in order. The values are parts of the same memory. */
export function readWrites(bytes: Buffer, each: (key: string, value: Uint8Array | null) => void): void {
  for (let at = 0; at < bytes.length; ) {
    const keyStart = at + WRITE_HEAD_BYTES;
    const keyEnd = keyStart + bytes.readUInt16LE(at);
    const length = bytes.readUInt32LE(at + 2);
    at = length === DELETED ? keyEnd : keyEnd + length;
    each(bytes.toString("utf8", keyStart, keyEnd), length === DELETED ? null : bytes.subarray(keyEnd, at));
  }
}
