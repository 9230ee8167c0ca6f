import { resolve } from "node:path";
import type { HeadwaterError } from "../errors.js";
import { convert, removeOneFile } from "./convert.js";
import {
  type Card,
  claim,
  existingCard,
  keepPrivate,
  LAYOUT_OF_ONE_FILE,
  logIn,
  replaceCard,
  tableIn,
} from "./directory.js";
import { isCode } from "./files.js";
import type { Durability, Journal, JournalIdentity, KeyTable } from "./journal.js";
import type { LogFile } from "./log/disk.js";
import { FileDisk } from "./log/file-disk.js";
import { readWrites } from "./log/frame.js";
import { type FoundLog, readLog } from "./log/read-log.js";
import { sealedName, segmentName, segmentsIn } from "./log/segment.js";
import { SEGMENT_SIZES, SegmentLog, type SegmentSizes } from "./log/segment-log.js";
import { LoggedJournal } from "./logged-journal.js";
import { OwnerLock } from "./owner-lock.js";
import { damaged, failed, fenced, full } from "./problems.js";
import { CARRY_OVER_LIMITS, CarryOver, type CarryOverLimits } from "./table/carry-over.js";
import { type FoundGenerations, findGenerations, generationNames } from "./table/generations.js";
import { JournalTable } from "./table/table.js";

export interface EmbeddedOptions {
  readonly durability: Durability;
  /** Hears of what is no error, but should be known. */
  readonly onWarning?: (text: string) => void;
  readonly carryOver?: Partial<CarryOverLimits>;
  readonly segments?: Partial<SegmentSizes>;
  /** Take the journal over from a process that has it open, which can then write nothing more. */
  readonly takeOver?: boolean;
  /** How long the lock of a journal of an older version may be held by another process before that is an error. */
  readonly lockMs?: number;
  /**
   * Refuses a journal for what is in it, by throwing, before anything is changed; `program` is what it was made for. With this, a
   * journal of a program with another name is not refused for that.
   */
  readonly check?: (table: KeyTable, program: string) => void;
  /** Hears that another opening has taken the journal over, also when nothing is being written. */
  readonly onFailure?: (error: HeadwaterError) => void;
}

/**
 * Opens the journal in a directory, or makes one. While another opening of this machine has it, that is refused
 * (HW-3024), unless the journal is to be taken over: then the other one is fenced off and can write nothing more. So is
 * a process of another machine in any case. An opening that is refused changes nothing.
 *
 * In this order: a segment of the next epoch is made, which one opening can do; the socket is put in place; all earlier
 * segments are sealed, so that nothing more is acknowledged in them; then they are read, and the new segment says
 * behind which sequence they do not count.
 */
export async function openEmbedded(
  directory: string,
  identity: JournalIdentity,
  options: EmbeddedOptions,
): Promise<Journal> {
  const path = resolve(directory);
  const card = claim(path, identity, options.check === undefined);
  const lock = await OwnerLock.prepare(path, options);
  const opening = new Opening(path, card, lock, options);
  try {
    return await opening.open();
  } catch (error) {
    await opening.undo();
    throw failed(path, "opening it", error);
  }
}

/** How often, and after how long, the end of a log is read again that a living owner was writing to. */
const READS_MAX = 20;
const READ_AGAIN_MS = 50;

/** What can be known of a journal of one file before it is converted. */
const NOTHING: KeyTable = { get: () => undefined, range: () => [] };

class Opening {
  readonly #path: string;
  #card: Card;
  readonly #lock: OwnerLock;
  readonly #options: EmbeddedOptions;
  readonly #disk: FileDisk;
  readonly #sizes: SegmentSizes;
  #epoch = 0;
  #active: LogFile | null = null;
  #table: JournalTable | null = null;
  #tables: { readonly names: string; readonly found: FoundGenerations } | null = null;

  constructor(path: string, card: Card, lock: OwnerLock, options: EmbeddedOptions) {
    this.#path = path;
    this.#card = card;
    this.#lock = lock;
    this.#options = options;
    this.#disk = new FileDisk(logIn(path), options.durability === "synced");
    this.#sizes = { ...SEGMENT_SIZES, ...options.segments };
  }

  async open(): Promise<Journal> {
    const { onWarning } = this.#options;
    if (this.#card.layout === LAYOUT_OF_ONE_FILE) {
      this.#options.check?.(NOTHING, this.#card.program);
      await this.#lock.install();
      this.#card = await convert(this.#path, this.#card, {
        ...this.#options,
        predecessor: this.#lock.predecessor,
      });
    }
    removeOneFile(this.#path);
    const active = await this.#takeEpoch();
    await this.#read(); // what is damaged is refused before anything is changed
    this.#check();
    await this.#lock.install();
    this.#seal();
    // Another opening may have made the journal since, and have acknowledged something in it.
    if (!this.#card.complete) this.#card = existingCard(this.#path);
    const found = await this.#read();
    this.#check();
    const { damages } = await this.#findTables();
    for (const what of damages) onWarning?.(`${this.#path}: ${what}; it was made again from the log`);
    if (found.torn !== null) onWarning?.(`${this.#path}: ${found.torn}`);
    keepPrivate(this.#path, onWarning);
    const log = this.#logBehind(found, active);
    await log.start();
    if (!this.#card.complete) replaceCard(this.#path, { ...this.#card, complete: true });
    if (log.check() !== null) throw this.#lock.refusal();
    this.#lock.confirm();
    for (const name of found.unused) {
      const [segment] = segmentsIn([name]);
      // One of a later epoch is of an opening that is about to take this one over.
      if (segment === undefined || segment.epoch < this.#epoch) this.#disk.remove(name);
    }
    return this.#journalOn(log, found);
  }

  /** An owner that lives may change what is in the journal until it is taken over, so this is asked twice. */
  #check(): void {
    if (this.#table !== null) this.#options.check?.(this.#table, this.#card.program);
  }

  /** Takes back what can be taken back: the files are as they were. */
  async undo(): Promise<void> {
    if (this.#active !== null) {
      this.#active.close();
      this.#disk.remove(segmentName(this.#epoch, 0));
      FileDisk.unmake(logIn(this.#path));
    }
    await this.#table?.close();
    this.#lock.remove();
    this.#lock.close();
  }

  /**
   * Another opening may have made the segment (EEXIST). A later one may also have sealed it before it was ready, or one that
   * has given up may have removed the directory (both ENOENT).
   */
  async #takeEpoch(): Promise<LogFile> {
    for (;;) {
      FileDisk.make(logIn(this.#path));
      this.#epoch = this.#lastEpoch() + 1;
      try {
        this.#active = await this.#make(segmentName(this.#epoch, 0));
        return this.#active;
      } catch (error) {
        if (!isCode(error, "EEXIST") && !isCode(error, "ENOENT")) throw error;
        const isTaken = isCode(error, "EEXIST") || this.#lastEpoch() > this.#epoch;
        if (isTaken && this.#options.takeOver !== true) throw this.#lock.refusal();
      }
    }
  }

  #lastEpoch(): number {
    return segmentsIn(this.#disk.names()).at(-1)?.epoch ?? 0;
  }

  #make(name: string): Promise<LogFile> {
    return new Promise((done, fail) => {
      this.#disk.create(name, this.#sizes.min, (error, file) => (file === null ? fail(error) : done(file)));
    });
  }

  /** Until there is no segment left in which an earlier owner could acknowledge something. */
  #seal(): void {
    for (;;) {
      const segments = segmentsIn(this.#disk.names());
      if (segments.some(({ epoch }) => epoch > this.#epoch)) throw this.#lock.refusal();
      const open = segments.filter(({ epoch, isSealed }) => epoch < this.#epoch && !isSealed);
      if (open.length === 0) return;
      for (const { name } of open) this.#disk.rename(name, sealedName(name));
    }
  }

  /** Looks again as long as others change what is looked at: an owner that lives, or other openings. */
  async #read(): Promise<FoundLog> {
    for (let reads = 1; ; reads++) {
      const before = this.#disk.names().join();
      const { damages } = await this.#findTables();
      const found = await this.#readOnce();
      if (found !== null && found.damages.length === 0) return found;
      const isChanging = found === null || this.#disk.names().join() !== before;
      const isWrittenTo = found?.isEndUnreadable === true && this.#lock.isTakingOver;
      if (reads === READS_MAX || !(isChanging || isWrittenTo)) {
        throw damaged(this.#path, [...damages, ...(found?.damages ?? [])].join("; "));
      }
      await new Promise((done) => setTimeout(done, READ_AGAIN_MS));
    }
  }

  /** Tables change no more, so they are compared with their checksums once. */
  async #findTables(): Promise<FoundGenerations> {
    const names = generationNames(tableIn(this.#path)).join();
    if (this.#tables?.names !== names) {
      this.#tables = { names, found: await findGenerations(tableIn(this.#path), this.#card.id) };
    }
    return this.#tables.found;
  }

  /** Null if a file went away that was to be read. */
  async #readOnce(): Promise<FoundLog | null> {
    const { id, complete } = this.#card;
    await this.#table?.close();
    this.#table = null;
    try {
      const table = new JournalTable(this.#path, this.#tables?.found.newest ?? null);
      this.#table = table;
      const found = readLog(this.#disk, id, table.generation?.applied ?? 0, (_, writes) => {
        readWrites(writes, (key, value) => table.set(key, value === null ? null : Buffer.from(value)));
      });
      if (complete) return found;
      // Nothing was acknowledged yet, whatever is there.
      return { ...found, damages: [], last: 0, segments: [], unused: this.#disk.names() };
    } catch (error) {
      if (isCode(error, "ENOENT") || (error instanceof Error && isCode(error.cause, "ENOENT"))) return null;
      throw error;
    }
  }

  #logBehind({ last, segments }: FoundLog, file: LogFile): SegmentLog {
    const path = this.#path;
    return new SegmentLog({
      disk: this.#disk,
      journal: this.#card.id,
      epoch: this.#epoch,
      isSynced: this.#options.durability === "synced",
      first: last + 1,
      active: { index: 0, bytes: this.#sizes.min, file },
      earlier: segments,
      sizes: this.#sizes,
      fenced: () => fenced(path, this.#epoch),
      full: () => full(path),
      failed: (doing, error) => failed(path, doing, error),
    });
  }

  #journalOn(log: SegmentLog, { bytes: logBytes }: FoundLog): Journal {
    const { onFailure, onWarning, carryOver } = this.#options;
    const [path, lock, table] = [this.#path, this.#lock, this.#table as JournalTable];
    const limits = { ...CARRY_OVER_LIMITS, ...carryOver };
    const background = new CarryOver({
      directory: tableIn(path),
      journal: this.#card.id,
      epoch: this.#epoch,
      table,
      log,
      logBytes,
      limits,
      onTrouble: (error) => {
        const what = failed(path, "bringing its table up to date", error).message;
        onWarning?.(`${what} It is tried again; until then, the log keeps everything.`);
      },
    });
    const pause = setInterval(() => {
      if (!background.isQuiet()) return;
      const taken = log.check();
      if (taken !== null) {
        clearInterval(pause);
        journal.fail(taken);
        onFailure?.(taken);
      } else if (background.isWorthwhile) journal.tidyUp();
    }, limits.idleMs).unref();
    const release = async () => {
      clearInterval(pause);
      lock.remove();
      lock.close();
    };
    const journal = new LoggedJournal({ address: path, log, table, background, soon: setImmediate, release });
    return journal;
  }
}
