import { type HeadwaterError, invariant } from "../../errors.js";
import type { LogDisk, LogFile } from "./disk.js";
import { FrameBuffer, frameBytes } from "./frame.js";
import type { Log } from "./log.js";
import type { KnownSegment } from "./read-log.js";
import { SEGMENT_HEAD_BYTES, segmentHeadBytes, segmentName } from "./segment.js";

export interface SegmentLogParts {
  readonly disk: LogDisk;
  readonly journal: string;
  readonly epoch: number;
  readonly isSynced: boolean;
  /** The sequence of the first frame. */
  readonly first: number;
  /** The first segment of this epoch: made, and not used yet. */
  readonly active: NewSegment;
  /** What earlier segments hold. */
  readonly earlier: readonly KnownSegment[];
  readonly sizes: SegmentSizes;
  readonly fenced: () => HeadwaterError;
  readonly full: () => HeadwaterError;
  readonly failed: (doing: string, error: unknown) => HeadwaterError;
}

/** A log begins small, since most journals are, and each segment is twice as large as the one before. */
export interface SegmentSizes {
  readonly min: number;
  readonly max: number;
}

export const SEGMENT_SIZES: SegmentSizes = { min: 256 * 2 ** 10, max: 64 * 2 ** 20 };
const GROWTH = 2;
/** How often room is looked for when there is none. */
const ROOM_MS = 250;

interface NewSegment {
  readonly index: number;
  readonly bytes: number;
  readonly file: LogFile;
}

type Done = (error: HeadwaterError | null) => void;

/**
 * A log in preallocated files. The next segment is made before it is needed, so that there is room for what was let in when
 * the disk is full, and no write has to wait for room.
 *
 * The fence: a successor renames every segment of its predecessors before it reads them. A frame is acknowledged only if,
 * after it was written, its segment still has its name: then the successor reads it. A new segment is used only if, after it was
 * made, the one before it still has its name: then the successor finds it. What a predecessor writes later stands behind the
 * sequence with which the successor's first segment begins, and does not count.
 */
export class SegmentLog implements Log {
  readonly framesMax = 1;
  readonly hasBarrier = false;
  readonly #parts: SegmentLogParts;
  readonly #kept: KnownSegment[];
  #active: NewSegment;
  /** Where the next frame goes; 0 if the head of the segment is not written yet. */
  #at = 0;
  #ahead: NewSegment | null = null;
  #isMaking = false;
  #isFull = false;
  #last: number;
  /** A frame that has no room yet. */
  #waiting: { readonly goOn: () => void; readonly fail: Done } | null = null;
  #isBusy = false;
  #isClosed = false;

  constructor(parts: SegmentLogParts) {
    this.#parts = parts;
    this.#active = parts.active;
    this.#last = parts.first - 1;
    this.#kept = [...parts.earlier];
  }

  get last(): number {
    return this.#last;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  check(): HeadwaterError | null {
    const { disk, epoch, fenced } = this.#parts;
    return disk.has(segmentName(epoch, this.#active.index)) ? null : fenced();
  }

  /** Writes down with which sequence this epoch begins: what an earlier epoch writes behind that does not count. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writeHead((error) => (error === null ? resolve() : reject(error)));
    });
  }

  append(frame: FrameBuffer, done: Done): void {
    invariant(!this.#isBusy, "a log writes one frame at a time");
    this.#isBusy = true;
    const bytes = frameBytes(frame.length);
    const write = () => {
      const { epoch } = this.#parts;
      const sealed = frame.seal({ epoch, segment: this.#active.index, sequence: this.#last + 1 });
      this.#write(sealed, (error) => {
        this.#isBusy = false;
        if (error === null) this.#last += 1;
        done(error);
      });
    };
    this.#withRoom(bytes, write, (error) => {
      this.#isBusy = false;
      done(error);
    });
  }

  cut(sequence: number): void {
    while (this.#kept[0] !== undefined && this.#kept[0].last <= sequence && this.check() === null) {
      this.#parts.disk.remove(this.#kept[0].name);
      this.#kept.shift();
    }
  }

  /** Says that this is the end, as far as there is room for it. What still waits for room never gets it. */
  async close(isSound: boolean): Promise<void> {
    this.#isClosed = true;
    this.#waiting?.fail(this.#parts.full());
    if (isSound && !this.#isBusy && this.#at + frameBytes(0) <= this.#active.bytes) {
      const place = { epoch: this.#parts.epoch, segment: this.#active.index, sequence: this.#last + 1 };
      const frame = new FrameBuffer().seal(place, "close");
      await new Promise<void>((resolve) => this.#write(frame, () => resolve()));
    }
    this.#active.file.close();
    if (this.#ahead !== null) this.#discard(this.#ahead);
  }

  #write(frame: Buffer, done: Done): void {
    if (this.#at === 0)
      return this.#writeHead((error) => (error === null ? this.#write(frame, done) : done(error)));
    const { file, bytes } = this.#active;
    file.write(frame, this.#at, (error) => {
      if (error !== null) return done(this.#parts.failed("a write", error));
      const taken = this.check();
      if (taken !== null) return done(taken);
      this.#at += frame.length;
      if (this.#at > bytes / 2) this.#makeAhead(0);
      done(null);
    });
  }

  #writeHead(done: Done): void {
    const { disk, journal, epoch, isSynced } = this.#parts;
    const { index, bytes, file } = this.#active;
    const head = { epoch, index, first: this.#last + 1, bytes, isSynced, journal, boot: disk.boot };
    file.write(segmentHeadBytes(head), 0, (error) => {
      if (error !== null) return done(this.#parts.failed("a write", error));
      this.#at = SEGMENT_HEAD_BYTES;
      done(null);
    });
  }

  /** Goes on when the frame fits into the active segment. */
  #withRoom(bytes: number, write: () => void, failed: Done): void {
    if (Math.max(this.#at, SEGMENT_HEAD_BYTES) + bytes <= this.#active.bytes) return write();
    const ahead = this.#ahead;
    const needed = SEGMENT_HEAD_BYTES + bytes;
    if (ahead === null || ahead.bytes < needed) {
      const fail = (error: HeadwaterError | null) => {
        this.#waiting = null;
        failed(error);
      };
      this.#waiting = { goOn: () => this.#withRoom(bytes, write, failed), fail };
      if (ahead !== null) this.#discard(ahead);
      this.#ahead = null;
      this.#makeAhead(needed);
      return;
    }
    this.#waiting = null;
    const taken = this.check(); // after the next one was made: see the fence
    if (taken !== null) return failed(taken);
    const { epoch } = this.#parts;
    const { index, bytes: size, file } = this.#active;
    this.#kept.push({ name: segmentName(epoch, index), last: this.#last, bytes: size });
    file.close();
    this.#active = ahead;
    this.#ahead = null;
    this.#at = 0;
    write();
  }

  #discard({ index, file }: NewSegment): void {
    file.close();
    this.#parts.disk.remove(segmentName(this.#parts.epoch, index));
  }

  #makeAhead(needed: number): void {
    if (this.#isMaking || this.#ahead !== null || this.#isClosed) return;
    this.#isMaking = true;
    const { disk, epoch, sizes } = this.#parts;
    const index = this.#active.index + 1;
    const bytes = Math.max(
      this.#isFull ? sizes.min : Math.min(this.#active.bytes * GROWTH, sizes.max),
      needed,
    );
    disk.create(segmentName(epoch, index), bytes, (error, file) => {
      this.#isMaking = false;
      if (file !== null) this.#made({ index, bytes, file });
      else if (!this.#isClosed) this.#notMade(needed, error);
    });
  }

  #made(segment: NewSegment): void {
    this.#isFull = false;
    if (this.#isClosed) return this.#discard(segment);
    this.#ahead = segment;
    this.#waiting?.goOn();
  }

  #notMade(needed: number, error: Error | null): void {
    if (isFullError(error)) {
      this.#isFull = true;
      this.#parts.disk.later(ROOM_MS, () => this.#makeAhead(needed));
      return;
    }
    this.#waiting?.fail(this.check() ?? this.#parts.failed("making room for its log", error));
  }
}

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export function isFullError(error: unknown): boolean {
  return error instanceof Error && "code" in error && FULL.has(String(error.code));
}
