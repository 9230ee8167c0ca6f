import type { LogDisk } from "./disk.js";
import { hasNoFrames, scan } from "./scan.js";
import {
  readSegmentHead,
  SEGMENT_HEAD_BYTES,
  type SegmentHead,
  type SegmentName,
  segmentsIn,
} from "./segment.js";

/** A segment whose frames count, and up to where they do. */
export interface KnownSegment {
  readonly name: string;
  readonly last: number;
  readonly bytes: number;
}

export interface FoundLog {
  /** The number of the last opening; 0 if there was none. */
  readonly epoch: number;
  /** The sequence of the last frame. */
  readonly last: number;
  readonly segments: readonly KnownSegment[];
  /** Segments that were made and never used. */
  readonly unused: readonly string[];
  /** Whether the last opening has closed the log. */
  readonly isClosed: boolean;
  /** Bytes of the frames behind `applied`. */
  readonly bytes: number;
  /** What is lost of what was acknowledged, and where. */
  readonly damages: readonly string[];
  /** The first sequence that is lost. */
  readonly lostFrom: number | null;
  /** What a crash has left half written and was never acknowledged. */
  readonly torn: string | null;
  /** There are bytes at the end that are no frame: damage, unless a living owner is writing there. */
  readonly isEndUnreadable: boolean;
}

type Each = (sequence: number, writes: Buffer) => void;

/** Reads the frames behind `applied`, in order. Frames that a later epoch has replaced do not count. */
export function readLog(disk: LogDisk, journal: string, applied: number, each: Each): FoundLog {
  const reading = new Reading(disk, journal, applied, each);
  const names = segmentsIn(disk.names());
  reading.readAll(names);
  return reading.found(names.at(-1)?.epoch ?? 0);
}

interface Headed {
  readonly name: string;
  readonly head: SegmentHead;
}

class Reading {
  readonly #disk: LogDisk;
  readonly #journal: string;
  readonly #applied: number;
  readonly #each: Each;
  readonly #damages: string[] = [];
  readonly #segments: KnownSegment[] = [];
  readonly #unused: string[] = [];
  #last: number;
  #bytes = 0;
  #isClosed = false;
  #isEndUnreadable = false;
  #lostFrom: number | null = null;
  #torn: string | null = null;

  constructor(disk: LogDisk, journal: string, applied: number, each: Each) {
    this.#disk = disk;
    this.#journal = journal;
    this.#applied = applied;
    this.#each = each;
    this.#last = applied;
  }

  readAll(names: readonly SegmentName[]): void {
    const segments = names.flatMap((each) => this.#headed(each) ?? []);
    let limit = Number.POSITIVE_INFINITY;
    const limits = segments.toReversed().map(({ head }) => {
      const own = limit;
      limit = Math.min(limit, head.first - 1);
      return own;
    });
    limits.reverse();
    const first = segments[0]?.head.first ?? 0;
    if (segments.length === 0) this.#lose(this.#applied + 1, "its log is missing");
    else if (first > this.#applied + 1) this.#loseRange(this.#applied + 1, first - 1, "no file has them");
    for (const [i, segment] of segments.entries()) this.#read(segment, limits[i] as number);
  }

  found(epoch: number): FoundLog {
    return {
      epoch,
      last: this.#last,
      segments: this.#segments,
      unused: this.#unused,
      isClosed: this.#isClosed,
      bytes: this.#bytes,
      damages: this.#damages,
      lostFrom: this.#lostFrom,
      torn: this.#torn,
      isEndUnreadable: this.#isEndUnreadable,
    };
  }

  #headed({ name, epoch, index }: SegmentName): Headed | null {
    const head = readSegmentHead(this.#disk.read(name, SEGMENT_HEAD_BYTES));
    if (head === "unused") {
      this.#unused.push(name);
      return null;
    }
    if (head === "damaged" || head.epoch !== epoch || head.index !== index) {
      if (this.#isBegun(name)) return null;
      this.#lose(this.#applied + 1, `the head of log/${name} has a wrong checksum`);
      return null;
    }
    if (head.journal !== this.#journal) {
      this.#lose(this.#applied + 1, `log/${name} is of another journal`);
      return null;
    }
    return { name, head };
  }

  /**
   * A frame is written when the head is on the disk. So a head that cannot be read, with nothing behind it, was being written when
   * the machine crashed, and nothing in the segment was acknowledged.
   */
  #isBegun(name: string): boolean {
    if (!hasNoFrames(this.#disk.read(name))) return false;
    this.#torn = `the head of log/${name} was cut off by a crash; nothing behind it was written`;
    this.#unused.push(name);
    return true;
  }

  #read({ name, head }: Headed, limit: number): void {
    const { bytes } = head;
    if (limit <= this.#applied) {
      this.#segments.push({ name, last: limit, bytes });
      return;
    }
    const from = Math.max(head.first - 1, this.#applied);
    const file = this.#disk.read(name);
    if (file.length < bytes) {
      this.#lose(from + 1, `log/${name} has ${file.length} bytes instead of ${bytes}`);
    }
    const { last, ending, at, gaps } = scan(file, head, ({ kind, sequence }, writes) => {
      if (kind !== "group" || sequence <= this.#applied || sequence > limit) return;
      if (sequence !== this.#last + 1) return; // what is behind a lost one does not count
      this.#bytes += writes.length;
      this.#last = sequence;
      this.#each(sequence, writes);
    });
    for (const gap of gaps) {
      this.#loseRange(
        Math.max(gap.first, from + 1),
        Math.min(gap.last, limit),
        `log/${name}, byte ${gap.at}`,
      );
    }
    this.#isClosed = ending === "closed" && limit === Number.POSITIVE_INFINITY;
    if (limit !== Number.POSITIVE_INFINITY)
      this.#loseRange(Math.max(last, from) + 1, limit, `log/${name}, byte ${at}`);
    else this.#judge(ending, `log/${name}, byte ${at}`, Math.max(last, from) + 1, head);
    this.#segments.push({ name, last: Math.min(Math.max(last, head.first - 1), limit), bytes });
  }

  /**
   * The end of the last segment. What the operating system had taken is there as long as it runs; a crash of the machine
   * may tear what was not synced, and only the last frame was not.
   */
  #judge(ending: string, where: string, sequence: number, { boot }: SegmentHead): void {
    if (ending === "zeros" || ending === "closed") return;
    if (ending === "unreadable" && boot === this.#disk.boot) {
      this.#isEndUnreadable = true;
      this.#lose(sequence, `group ${sequence} (${where}) has a wrong checksum`);
      return;
    }
    this.#torn = `a write that was on its way to ${where} was cut off by a crash; nothing in it was acknowledged`;
  }

  #loseRange(first: number, last: number, where: string): void {
    if (first > last) return;
    const groups = first === last ? `group ${first} is` : `groups ${first} to ${last} are`;
    this.#lose(first, `${groups} lost (${where})`);
  }

  #lose(sequence: number, what: string): void {
    this.#damages.push(what);
    this.#lostFrom = Math.min(this.#lostFrom ?? sequence, sequence);
  }
}
