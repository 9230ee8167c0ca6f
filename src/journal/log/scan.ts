import { ALIGNMENT, type FrameHead, frameBytes, HEAD_BYTES, hasMark, readHead, writesOf } from "./frame.js";
import { SEGMENT_HEAD_BYTES, type SegmentHead } from "./segment.js";

/**
 * How the frames of a segment end.
 * - `zeros`: nothing was written behind the last frame.
 * - `closed`: the log was closed there.
 * - `cut off`: a frame began and has no end; its writer was interrupted.
 * - `unreadable`: there are bytes that are no frame: a torn write if the machine crashed then, otherwise damage.
 */
export type Ending = "zeros" | "closed" | "cut off" | "unreadable";

/** Frames that are there no more, though a later one is. */
export interface Gap {
  readonly first: number;
  readonly last: number;
  /** The position in the file. */
  readonly at: number;
}

export interface Scan {
  /** The sequence of the last frame that was read; the one before the segment's first if there is none. */
  readonly last: number;
  readonly ending: Ending;
  /** The position of the end. */
  readonly at: number;
  readonly gaps: readonly Gap[];
}

/** A head has more bytes than this that are not zero: fewer are a flipped bit in a part that was never written. */
const NOISE_BYTES = 6;
const ZEROS = Buffer.alloc(64 * 2 ** 10);

/** Reads the frames of a segment in order, and goes on behind damaged ones. */
export function scan(
  bytes: Buffer,
  segment: SegmentHead,
  each: (head: FrameHead, writes: Buffer) => void,
): Scan {
  const gaps: Gap[] = [];
  let at = SEGMENT_HEAD_BYTES;
  let last = segment.first - 1;
  for (;;) {
    const frame = frameAt(bytes, at, segment);
    if (frame !== null && frame.writes !== null && frame.head.sequence === last + 1) {
      each(frame.head, frame.writes);
      at += frame.bytes;
      last += 1;
      if (frame.head.kind === "close") return { last: last - 1, ending: "closed", at, gaps };
      continue;
    }
    const next = nextFrame(bytes, at + ALIGNMENT, segment, last + 1);
    if (next === null) return { last, ending: endingAt(bytes, at, frame), at, gaps };
    gaps.push({ first: last + 1, last: next.sequence - 1, at });
    last = next.sequence - 1;
    at = next.at;
  }
}

interface Frame {
  readonly head: FrameHead;
  readonly bytes: number;
  /** Null if they are not all there, or damaged. */
  readonly writes: Buffer | null;
  readonly hasMark: boolean;
}

function frameAt(bytes: Buffer, at: number, { epoch, index }: SegmentHead): Frame | null {
  const head = readHead(bytes.subarray(at, at + HEAD_BYTES));
  if (head === null || head.epoch !== epoch || head.segment !== index) return null;
  const total = frameBytes(head.length);
  const frame = bytes.subarray(at, at + total);
  const isWhole = frame.length === total;
  return {
    head,
    bytes: total,
    writes: isWhole ? writesOf(frame, head) : null,
    hasMark: isWhole && hasMark(frame),
  };
}

/** The next whole frame with a later sequence than this one. */
function nextFrame(bytes: Buffer, from: number, segment: SegmentHead, sequence: number) {
  for (let at = from; at + HEAD_BYTES <= bytes.length; at += ALIGNMENT) {
    if (bytes.readUInt32LE(at) === 0 && isZero(bytes, at, at + ALIGNMENT)) {
      at = endOfZeros(bytes, at) - ALIGNMENT;
      continue;
    }
    if (bytes.readUInt32LE(at + 28) !== segment.index || bytes.readUInt32LE(at + 24) !== segment.epoch)
      continue;
    const frame = frameAt(bytes, at, segment);
    if (frame !== null && frame.writes !== null && frame.head.sequence > sequence) {
      return { at, sequence: frame.head.sequence };
    }
  }
  return null;
}

/** Was nothing written behind the head of a segment? */
export function hasNoFrames(bytes: Buffer): boolean {
  return endingAt(bytes, SEGMENT_HEAD_BYTES, null) === "zeros";
}

function endingAt(bytes: Buffer, at: number, frame: Frame | null): Ending {
  if (frame !== null) return frame.hasMark ? "unreadable" : "cut off";
  let written = 0;
  for (let from = at; from < bytes.length; from = endOfZeros(bytes, from)) {
    for (const end = Math.min(bytes.length, from + ALIGNMENT); from < end; from++) {
      if (bytes[from] !== 0) written += 1;
    }
    if (written > NOISE_BYTES) return "unreadable";
  }
  return "zeros";
}

/** The first multiple of the alignment, counted from here, behind which not all is zero. */
function endOfZeros(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isZero(bytes, at, at + ZEROS.length)) at += ZEROS.length;
  while (at < bytes.length && isZero(bytes, at, at + ALIGNMENT)) at += ALIGNMENT;
  return at;
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  const part = bytes.subarray(from, to);
  return part.equals(ZEROS.subarray(0, part.length));
}
