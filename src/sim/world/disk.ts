import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { CommitBuffer, readCommit } from "../../journal/record.js";
import { Table } from "../../journal/table.js";
import type { Random } from "../../random.js";

/** How bad a disk is; drawn per seed. */
export interface DiskLuck {
  /** How likely a write or a sync fails. After that, the journal takes no more. */
  readonly failure: number;
  /** How likely a sync takes longer. */
  readonly slowness: number;
  /** How likely a crash leaves a part of a record behind that was not synced. */
  readonly tear: number;
}

interface DiskRecord {
  readonly bytes: Buffer;
  /** How many groups of writes were appended up to and with this record. */
  readonly groups: number;
}

/** A file on a simulated disk, to which records are appended. It outlives crashes; what was not synced may not. */
export class SimDisk {
  #records: DiskRecord[] = [];
  #synced = 0;

  /** How many groups of writes there are. */
  get groups(): number {
    return this.#records.at(-1)?.groups ?? 0;
  }

  write(record: DiskRecord): void {
    this.#records.push(record);
  }

  sync(): void {
    this.#synced = this.#records.length;
  }

  /** Records that were not synced are lost from some point on, and the first of those may be there in part. */
  crash(random: Random, { tear }: DiskLuck): void {
    const kept = this.#synced + random.int(this.#records.length - this.#synced + 1);
    const next = this.#records[kept];
    this.#records.length = kept;
    if (next === undefined || !random.chance(tear)) return;
    const bytes = Buffer.from(next.bytes.subarray(0, 1 + random.int(next.bytes.length)));
    const isWhole = bytes.length === next.bytes.length;
    if (isWhole || random.chance(0.3)) {
      const at = random.int(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(8));
    }
    this.#records.push({ bytes, groups: this.groups });
  }

  /** Hands over what can be read, and cuts the rest off. Says whether there was such a rest. */
  replay(each: (key: string, value: Uint8Array | null) => void): boolean {
    const broken = this.#records.findIndex(({ bytes }) => !readCommit(bytes, each));
    if (broken >= 0) this.#records.length = broken;
    this.#synced = this.#records.length;
    return broken >= 0;
  }
}

type Done = (error: HeadwaterError | null) => void;

/** A journal on such a disk. Writing and syncing are things that happen some time, or go wrong. */
export class SimJournal implements Journal {
  readonly #table = new Table<Uint8Array>();
  readonly #gathering = new CommitBuffer();
  #waiting: Done[] = [];
  #groups: number;
  #isBusy = false;
  #failure: HeadwaterError | null = null;
  /** Was there something that a crash had left half written? */
  readonly wasTorn: boolean;

  constructor(
    readonly disk: SimDisk,
    readonly luck: DiskLuck,
    readonly random: Random,
    readonly later: (what: string, happen: () => void) => void,
  ) {
    this.wasTorn = disk.replay((key, value) => this.#set(key, value));
    this.#groups = disk.groups;
  }

  /** How many groups of writes were appended, since the disk was new. */
  get groups(): number {
    return this.#groups;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  append(writes: readonly Write[], done: Done): void {
    const failure = this.#failure;
    if (failure !== null) return this.later("refusal", () => done(failure));
    this.#gathering.addAll(writes);
    for (const { key, value } of writes) this.#set(key, value);
    this.#groups += 1;
    this.#waiting.push(done);
    this.#goOn();
  }

  get(key: string): Uint8Array | undefined {
    return this.#table.get(key);
  }

  *range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    yield* this.#table.from(prefix, after);
  }

  async close(): Promise<void> {}

  #set(key: string, value: Uint8Array | null): void {
    if (value === null) this.#table.delete(key);
    else this.#table.set(key, Buffer.from(value));
  }

  #goOn(): void {
    if (this.#isBusy || this.#waiting.length === 0) return;
    this.#isBusy = true;
    this.later("write", () => this.#write());
  }

  #write(): void {
    const settled = this.#waiting;
    this.#waiting = [];
    if (this.random.chance(this.luck.failure)) return this.#fail("the disk is full", settled);
    this.disk.write({ bytes: Buffer.from(this.#gathering.seal()), groups: this.#groups });
    this.#gathering.clear();
    this.later("sync", () => this.#sync(settled));
  }

  #sync(settled: readonly Done[]): void {
    if (this.random.chance(this.luck.slowness)) return this.later("sync", () => this.#sync(settled));
    if (this.random.chance(this.luck.failure)) return this.#fail("the disk does not answer", settled);
    this.disk.sync();
    this.#isBusy = false;
    this.#goOn();
    for (const done of settled) done(null);
  }

  #fail(why: string, settled: readonly Done[]): void {
    const failure = new HeadwaterError("HW-3006", `${why}.`);
    this.#failure = failure;
    for (const done of [...settled, ...this.#waiting.splice(0)]) done(failure);
  }
}
