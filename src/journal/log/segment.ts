/**
 * A segment is one file of a log: a head, then frames, then zeros up to the length that it was made with. Its name says
 * whose it is: the number of the opening that made it (the epoch) and its place among that opening's segments.
 */

import { crc32 } from "node:zlib";

/** Frames begin behind it, so that no write of a frame touches the block of the head. */
export const SEGMENT_HEAD_BYTES = 4096;
const USED_BYTES = 80;
const MAGIC = 0x474c5748;
const VERSION = 1;
const ID_BYTES = 16;
/** A head has more bytes than this that are not zero: fewer are a flipped bit in one that was never written. */
const NOISE_BYTES = 6;

const OPEN = ".log";
const SEALED = ".sealed";
const NAME = /^(\d{8})-(\d{8})(\.log|\.sealed)$/;

export interface SegmentName {
  readonly name: string;
  readonly epoch: number;
  readonly index: number;
  /** A successor has renamed it: its owner acknowledges nothing more. */
  readonly isSealed: boolean;
}

export function segmentName(epoch: number, index: number): string {
  return `${String(epoch).padStart(8, "0")}-${String(index).padStart(8, "0")}${OPEN}`;
}

export function sealedName(name: string): string {
  return name.slice(0, -OPEN.length) + SEALED;
}

/** The segments among these names, in the order of their frames. */
export function segmentsIn(names: readonly string[]): SegmentName[] {
  const found = names.flatMap((name) => {
    const [, epoch, index, ending] = NAME.exec(name) ?? [];
    if (epoch === undefined || index === undefined) return [];
    return [{ name, epoch: Number(epoch), index: Number(index), isSealed: ending === SEALED }];
  });
  return found.sort((a, b) => a.epoch - b.epoch || a.index - b.index);
}

export interface SegmentHead {
  readonly epoch: number;
  readonly index: number;
  /** The sequence of its first frame. Frames of earlier epochs from this one on do not count. */
  readonly first: number;
  /** The length of the file. */
  readonly bytes: number;
  /** Whether each frame was synced before the next was written. */
  readonly isSynced: boolean;
  /** Which journal it belongs to, in hexadecimal. */
  readonly journal: string;
  /** Which run of the operating system it was written in, in hexadecimal. */
  readonly boot: string;
}

export function segmentHeadBytes(head: SegmentHead): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEAD_BYTES);
  bytes.writeUInt32LE(MAGIC, 4);
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeUInt32LE(head.isSynced ? 1 : 0, 12);
  bytes.writeUInt32LE(head.epoch, 16);
  bytes.writeUInt32LE(head.index, 20);
  bytes.writeBigUInt64LE(BigInt(head.first), 24);
  bytes.writeBigUInt64LE(BigInt(head.bytes), 32);
  bytes.write(head.journal, 40, ID_BYTES, "hex");
  bytes.write(head.boot, 56, ID_BYTES, "hex");
  bytes.writeUInt32LE(crc32(bytes.subarray(4, USED_BYTES)), 0);
  return bytes;
}

/** `unused`: it was made, and nothing was acknowledged in it. */
export type FoundHead = SegmentHead | "unused" | "damaged";

export function readSegmentHead(bytes: Buffer): FoundHead {
  const used = bytes.subarray(0, USED_BYTES);
  if (used.filter((byte) => byte !== 0).length < NOISE_BYTES) return "unused";
  if (used.length < USED_BYTES || crc32(used.subarray(4)) !== used.readUInt32LE(0)) return "damaged";
  if (used.readUInt32LE(4) !== MAGIC || used.readUInt32LE(8) !== VERSION) return "damaged";
  return {
    isSynced: used.readUInt32LE(12) === 1,
    epoch: used.readUInt32LE(16),
    index: used.readUInt32LE(20),
    first: Number(used.readBigUInt64LE(24)),
    bytes: Number(used.readBigUInt64LE(32)),
    journal: used.toString("hex", 40, 40 + ID_BYTES),
    boot: used.toString("hex", 56, 56 + ID_BYTES),
  };
}
