import type { LogDisk, LogFile } from "../../journal/log/disk.js";
import type { Random } from "../../random.js";

/** How bad a disk is; drawn per seed. */
export interface DiskLuck {
  /** How likely a write or a sync fails. After that, the journal takes no more. */
  readonly failure: number;
  /** How likely there is no room for a new file. */
  readonly fullness: number;
  /** How likely a sync takes longer. */
  readonly slowness: number;
  /** How likely a crash of the machine leaves a part of a write behind that was not synced. */
  readonly tear: number;
}

const SECTOR_BYTES = 512;
const PAGE_BYTES = 4096;
const BEGINNING_BYTES = 128;

interface SimFile {
  bytes: Buffer;
  /** A write that is on its way. */
  pending: { readonly bytes: Buffer; readonly at: number } | null;
}

type Later = (what: string, happen: () => void) => void;

/** Files on a simulated disk. They outlive crashes; what was not synced may not. */
export class SimDisk {
  readonly files = new Map<string, SimFile>();
  #boots = 0;

  get boot(): string {
    return this.#boots.toString(16).padStart(32, "0");
  }

  /** The process ends. What it was writing is there, or not, or its first pages are. */
  kill(random: Random): void {
    this.#settle(({ bytes, at }, file) => {
      const pages = Math.ceil((at + bytes.length) / PAGE_BYTES) - Math.floor(at / PAGE_BYTES);
      const end = (Math.floor(at / PAGE_BYTES) + random.int(pages + 1)) * PAGE_BYTES;
      bytes.subarray(0, Math.max(0, end - at)).copy(file.bytes, at);
    });
  }

  /** The machine ends. Any sectors of what was being written are there, with flipped bits as the case may be. */
  crash(random: Random, { tear }: DiskLuck): void {
    this.#boots += 1;
    this.#settle(({ bytes, at }, file) => {
      const isTorn = random.chance(tear);
      const isAll = random.chance(0.5);
      for (let from = at; from < at + bytes.length; ) {
        const end = Math.min((Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES, at + bytes.length);
        if (isTorn ? random.chance(0.5) : isAll) bytes.copy(file.bytes, from, from - at, end - at);
        from = end;
      }
      if (isTorn && random.chance(0.5)) flip(file.bytes, at + placeIn(bytes, random), random);
    });
  }

  /** A bit that was not written. */
  rot(random: Random): string {
    const name = random.pick([...this.files.keys()].sort());
    const { bytes } = this.files.get(name) as SimFile;
    const at = random.int(bytes.length);
    flip(bytes, at, random);
    return `${name}, byte ${at}`;
  }

  #settle(land: (write: { readonly bytes: Buffer; readonly at: number }, file: SimFile) => void): void {
    for (const file of this.files.values()) {
      if (file.pending !== null) land(file.pending, file);
      file.pending = null;
    }
  }
}

/** Often near the beginning, where heads are: most of a large write is zeros that say nothing. */
function placeIn({ length }: Buffer, random: Random): number {
  return random.int(random.chance(0.5) ? Math.min(length, BEGINNING_BYTES) : length);
}

function flip(bytes: Buffer, at: number, random: Random): void {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(8));
}

/** Such a disk as one process sees it. What takes time happens some time, or goes wrong. */
export class SimLogDisk implements LogDisk {
  readonly boot: string;
  isFull = false;
  /** An opening does all it does before anything else goes on. */
  isOpening = true;

  constructor(
    readonly disk: SimDisk,
    readonly luck: DiskLuck,
    readonly random: Random,
    readonly happen: Later,
  ) {
    this.boot = disk.boot;
  }

  names(): string[] {
    return [...this.disk.files.keys()];
  }

  read(name: string, bytes?: number): Buffer {
    const file = this.disk.files.get(name);
    return Buffer.from(file === undefined ? [] : file.bytes.subarray(0, bytes));
  }

  create(name: string, bytes: number, done: (error: Error | null, file: LogFile | null) => void): void {
    if (this.disk.files.has(name)) return done(failure("EEXIST"), null);
    const file: SimFile = { bytes: Buffer.alloc(0), pending: null };
    this.disk.files.set(name, file);
    this.happen("make room", () => {
      this.isFull = this.random.chance(this.luck.fullness);
      if (this.isFull) {
        this.disk.files.delete(name);
        return done(failure("ENOSPC"), null);
      }
      file.bytes = Buffer.alloc(bytes);
      done(null, this.#opened(file));
    });
  }

  /** For an opening. */
  createNow(name: string, bytes: number): LogFile {
    const file: SimFile = { bytes: Buffer.alloc(bytes), pending: null };
    this.disk.files.set(name, file);
    return this.#opened(file);
  }

  has(name: string): boolean {
    return this.disk.files.has(name);
  }

  rename(from: string, to: string): boolean {
    const file = this.disk.files.get(from);
    if (file === undefined) return false;
    this.disk.files.delete(from);
    this.disk.files.set(to, file);
    return true;
  }

  remove(name: string): void {
    this.disk.files.delete(name);
  }

  later(_ms: number, callback: () => void): void {
    this.happen("look for room", callback);
  }

  #opened(file: SimFile): LogFile {
    return {
      close: () => {},
      write: (bytes, at, done) => {
        if (this.isOpening) {
          bytes.copy(file.bytes, at);
          return done(null);
        }
        this.happen("write", () => {
          file.pending = { bytes: Buffer.from(bytes), at };
          this.#sync(file, done);
        });
      },
    };
  }

  #sync(file: SimFile, done: (error: Error | null) => void): void {
    this.happen("sync", () => {
      if (this.random.chance(this.luck.slowness)) return this.#sync(file, done);
      if (this.random.chance(this.luck.failure)) return done(failure("EIO"));
      file.pending?.bytes.copy(file.bytes, file.pending.at);
      file.pending = null;
      done(null);
    });
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
