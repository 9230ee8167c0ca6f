import type { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { readWrites } from "../../journal/log/frame.js";
import { type FoundLog, readLog } from "../../journal/log/read-log.js";
import { sealedName, segmentName, segmentsIn } from "../../journal/log/segment.js";
import { SegmentLog } from "../../journal/log/segment-log.js";
import { type AppliedTable, LoggedJournal } from "../../journal/logged-journal.js";
import { damaged, failed, fenced, full } from "../../journal/problems.js";
import { SortedMap } from "../../journal/sorted-map.js";
import type { Random } from "../../random.js";
import { type DiskLuck, type SimDisk, SimLogDisk } from "./disk.js";

/** Small, so that there are many of them. */
const SIZES = { min: 5 * 1024, max: 12 * 1024 };
const ID = "5".repeat(32);
const ADDRESS = "simulated";
/** Under it, each group writes how many there are with it. */
const COUNT = "\u0000groups";

type Done = (error: HeadwaterError | null) => void;

/** The real log and the real gathering of groups on a simulated disk, with a table that is all in memory. */
export class SimJournal implements Journal {
  readonly #table = new MemoryTable();
  readonly #journal: LoggedJournal;
  readonly #log: SegmentLog;
  readonly #disk: SimLogDisk;
  #groups: number;
  #hasFailed = false;
  /** Was there something that a crash had left half written? */
  readonly wasTorn: boolean;

  constructor(
    disk: SimDisk,
    luck: DiskLuck,
    random: Random,
    later: (what: string, happen: () => void) => void,
    ignoresFence = false,
  ) {
    const view = new SimLogDisk(disk, luck, random, later);
    this.#disk = view;
    const epoch = (segmentsIn(view.names()).at(-1)?.epoch ?? 0) + 1;
    const file = view.createNow(segmentName(epoch, 0), SIZES.min);
    if (!ignoresFence) seal(view, epoch);
    const found = contentOf(view, (key, value) => this.#table.set(key, value));
    if (epoch > 1 && found.damages.length > 0) throw damaged(ADDRESS, found.damages.join("; "));
    this.wasTorn = found.torn !== null;
    this.#groups = countIn(this.#table);
    this.#log = new SegmentLog({
      disk: view,
      journal: ID,
      epoch,
      isSynced: true,
      first: found.last + 1,
      active: { index: 0, bytes: SIZES.min, file },
      earlier: found.segments,
      sizes: SIZES,
      fenced: () => fenced(ADDRESS, epoch),
      full: () => full(ADDRESS),
      failed: (doing, error) => failed(ADDRESS, doing, error),
    });
    void this.#log.start();
    view.isOpening = false;
    this.#journal = new LoggedJournal({
      address: ADDRESS,
      log: this.#log,
      table: this.#table,
      background: NOTHING,
      soon: (callback) => later("gather", callback),
      release: async () => {},
    });
  }

  /** How many groups of writes were appended, since the disk was new. */
  get groups(): number {
    return this.#groups;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Whether the disk had no room when it was asked for some last. */
  get isFull(): boolean {
    return this.#disk.isFull;
  }

  append(writes: readonly Write[], done: Done): void {
    const counted = [...writes, { key: COUNT, value: numberBytes(this.#groups + 1) }];
    if (!this.#hasFailed) this.#groups += 1;
    this.#journal.append(counted, (error) => {
      this.#hasFailed ||= error !== null;
      done(error);
    });
  }

  refusal(): HeadwaterError | null {
    return this.#journal.refusal();
  }

  get(key: string): Uint8Array | undefined {
    return this.#journal.get(key);
  }

  range(prefix: string, after?: string): Iterable<[key: string, value: Uint8Array]> {
    return this.#journal.range(prefix, after);
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

/** How many groups the next opening would find. */
export function groupsOn(disk: SimDisk, luck: DiskLuck, random: Random): number {
  const table = new MemoryTable();
  contentOf(new SimLogDisk(disk, luck, random, () => {}), (key, value) => table.set(key, value));
  return countIn(table);
}

function seal(view: SimLogDisk, epoch: number): void {
  for (const each of segmentsIn(view.names())) {
    if (each.epoch < epoch && !each.isSealed) view.rename(each.name, sealedName(each.name));
  }
}

function contentOf(view: SimLogDisk, set: (key: string, value: Uint8Array | null) => void): FoundLog {
  return readLog(view, ID, 0, (_, writes) => {
    readWrites(writes, (key, value) => set(key, value === null ? null : Buffer.from(value)));
  });
}

class MemoryTable implements AppliedTable {
  readonly #entries = new SortedMap<Uint8Array>();
  readonly bytesInMemory = 0;

  get(key: string): Uint8Array | undefined {
    return this.#entries.get(key);
  }

  range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    return this.#entries.from(prefix, after);
  }

  set(key: string, value: Uint8Array | null): void {
    if (value === null) this.#entries.delete(key);
    else this.#entries.set(key, Buffer.from(value));
  }

  async close(): Promise<void> {}
}

/** A table in memory has no file to bring up to date. */
const NOTHING = {
  isDue: () => false,
  freeze: () => {},
  frozenUpTo: () => {},
  written: () => {},
  close: async () => {},
};

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function countIn(table: MemoryTable): number {
  const bytes = table.get(COUNT);
  return bytes === undefined ? 0 : Buffer.from(bytes).readUInt32LE();
}
