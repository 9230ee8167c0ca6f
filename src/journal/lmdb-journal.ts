import type { HeadwaterError } from "../errors.js";
import { CarryOver, type CarryOverLimits, type Portion } from "./carry-over.js";
import { dataFile } from "./directory.js";
import { fillUp } from "./header.js";
import type { Journal, Write } from "./journal.js";
import { checkKey } from "./keys.js";
import { mergeNewest } from "./merge.js";
import type { Overlay } from "./overlay.js";
import type { OwnerLock } from "./owner-lock.js";
import { closed, damaged, failed, fenced } from "./problems.js";
import { CommitBuffer, unprotect } from "./record.js";
import { logKey, OWNER, type Store, syncStore } from "./store.js";

export interface LmdbJournalParts {
  readonly directory: string;
  readonly store: Store;
  readonly lock: OwnerLock;
  readonly epoch: number;
  readonly overlay: Overlay;
  /** The numbers of the oldest commit in the log and of the next one. */
  readonly first: number;
  readonly next: number;
  readonly isSynced: boolean;
  readonly limits: CarryOverLimits;
  readonly onFailure: (error: HeadwaterError) => void;
  readonly release: () => void;
}

type Done = (error: HeadwaterError | null) => void;

/** A commit takes along twice what it brings of a carry-over, so that one ends before the next is due. */
const PORTION_MIN: Portion = { operations: 64, bytes: 64 * 2 ** 10 };
const PORTION_IDLE: Portion = { operations: 2048, bytes: 2 ** 20 };

/**
 * A journal in an lmdb file. Appended groups are gathered while a commit is on its way to the disk, and become the
 * next commit: one value in the log (`record.ts`), so a sync is shared by all who wait for one. What the log holds
 * is also in memory (`overlay.ts`) until it is carried over to the main table (`carry-over.ts`).
 *
 * Each transaction goes through only if the epoch in the file is still this journal's: that is the fence.
 */
export class LmdbJournal implements Journal {
  readonly #parts: LmdbJournalParts;
  readonly #overlay: Overlay;
  #gathering = new CommitBuffer();
  #spare = new CommitBuffer();
  #waiting: Done[] = [];
  #next: number;
  /** The oldest commit in the log. */
  #first: number;
  #carryOver: CarryOver | null = null;
  #isCommitting = false;
  #isScheduled = false;
  #failure: HeadwaterError | null = null;
  #closing: Promise<void> | null = null;
  #onRest: (() => void) | null = null;
  /** Carries over all there is, in large portions, as nobody is waiting for a commit. */
  #isTidyingUp = false;
  #pause: NodeJS.Timeout | null = null;
  #appendsSincePause = 0;

  constructor(parts: LmdbJournalParts) {
    this.#parts = parts;
    this.#overlay = parts.overlay;
    this.#first = parts.first;
    this.#next = parts.next;
    this.#awaitPause();
  }

  append(writes: readonly Write[], done: Done): void {
    const refusal = this.#closing === null ? this.#failure : closed(this.#parts.directory);
    if (refusal !== null) {
      queueMicrotask(() => done(refusal));
      return;
    }
    this.#gathering.addAll(writes);
    for (const { key, value } of writes) this.#overlay.set(key, value);
    this.#waiting.push(done);
    if (writes.length > 0) {
      this.#appendsSincePause += 1;
      this.#isTidyingUp = false;
    }
    if (!this.#isCommitting) this.#schedule();
  }

  get(key: string): Uint8Array | undefined {
    this.#checkOpen();
    checkKey(key);
    const recent = this.#overlay.get(key);
    if (recent !== undefined) return recent ?? undefined;
    const bytes = Buffer.from(key);
    try {
      const stored = this.#parts.store.main.getBinary(bytes);
      return stored === undefined ? undefined : this.#checked(key, bytes, stored);
    } catch (error) {
      throw failed(this.#parts.directory, "reading it", error);
    }
  }

  *range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    this.#checkOpen();
    if (prefix !== "") checkKey(prefix);
    const isFromStart = after === "";
    const start = Buffer.from(isFromStart ? prefix : after);
    // No byte of UTF-8 is 255, so this is behind all keys that start so.
    const end = Buffer.concat([Buffer.from(prefix), Buffer.from([255])]);
    const { directory, store } = this.#parts;
    try {
      const inFile = store.main.getRange(
        isFromStart && prefix === "" ? {} : { start, end, exclusiveStart: !isFromStart },
      );
      for (const { key, newest, stored } of mergeNewest(inFile, this.#overlay.from(prefix, after))) {
        yield [key, newest ?? this.#checked(key, Buffer.from(key), stored)];
      }
    } catch (error) {
      throw failed(directory, "reading it", error);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { directory, store, lock, isSynced, release } = this.#parts;
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#isTidyingUp = true;
    await new Promise<void>((resolve) => {
      this.#onRest = resolve;
      this.#goOn();
    });
    try {
      if (this.#failure === null) {
        await (isSynced ? null : syncStore(store));
        store.root.transactionSync(() => {
          fillUp(dataFile(directory));
          lock.remove();
        });
      }
    } catch (error) {
      throw failed(directory, "closing it", error);
    } finally {
      lock.close();
      await store.root.close();
      release();
    }
  }

  /** What else is called in this turn of the event loop should be in the same commit. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#isCommitting) return;
    const hasWork = this.#waiting.length > 0 || (this.#isTidyingUp && this.#isUntidy());
    if (hasWork && this.#failure === null) {
      this.#commit();
      return;
    }
    this.#isTidyingUp = false;
    this.#onRest?.();
  }

  #isUntidy(): boolean {
    return this.#carryOver !== null || this.#overlay.recentKeys > 0;
  }

  /** One transaction: what was gathered as one value, and a portion of a carry-over if there is one to do. */
  #commit(): void {
    const { store, epoch } = this.#parts;
    const buffer = this.#gathering;
    const settled = this.#waiting;
    this.#gathering = this.#spare;
    this.#waiting = [];
    this.#isCommitting = true;
    const bytes = buffer.writes > 0 ? buffer.seal() : null;
    const number = this.#next;
    if (bytes !== null) this.#next += 1;
    this.#beginCarryOver();
    const portion = this.#portion(buffer.writes, bytes?.byteLength ?? 0);
    let isCarriedOver = false;
    const isThrough = store.meta.ifVersion(OWNER, epoch, () => {
      if (bytes !== null) store.log.put(logKey(number), bytes);
      isCarriedOver = this.#carryOver?.step(store, portion) ?? false;
    });
    // The disk is busy with this commit now, and nobody is waiting for what is done meanwhile.
    this.#carryOver?.prepare(portion);
    void isThrough.then(
      (isOurs) => {
        buffer.clear();
        this.#spare = buffer;
        if (isOurs) this.#committed(settled, isCarriedOver);
        else this.#fail(fenced(this.#parts.directory, epoch), settled);
      },
      async (error: unknown) =>
        this.#fail(failed(this.#parts.directory, "a commit", await reason(error)), settled),
    );
  }

  #committed(settled: readonly Done[], isCarriedOver: boolean): void {
    this.#isCommitting = false;
    if (this.#carryOver !== null) this.#first = this.#carryOver.first;
    if (isCarriedOver) {
      this.#carryOver = null;
      this.#overlay.drop();
    }
    // First, so that the disk is busy while those who waited go on.
    this.#goOn();
    for (const done of settled) done(null);
  }

  #fail(failure: HeadwaterError, settled: readonly Done[]): void {
    this.#failure = failure;
    this.#isCommitting = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#goOn();
    for (const done of [...settled, ...waiting]) done(failure);
  }

  /** All that was gathered is in the commit that is being put together, so the overlay is what the log will be. */
  #beginCarryOver(): void {
    if (this.#carryOver !== null) return;
    const { limits } = this.#parts;
    const commits = this.#next - this.#first;
    const isDue =
      this.#overlay.recentKeys >= limits.keys ||
      this.#overlay.recentBytes >= limits.bytes ||
      commits >= limits.commits;
    if (!isDue && !(this.#isTidyingUp && this.#overlay.recentKeys > 0)) return;
    this.#carryOver = new CarryOver(this.#overlay, this.#first, this.#next - 1);
  }

  #portion(writes: number, bytes: number): Portion {
    if (writes === 0) return PORTION_IDLE;
    return {
      operations: Math.max(PORTION_MIN.operations, 2 * writes),
      bytes: Math.max(PORTION_MIN.bytes, 2 * bytes),
    };
  }

  /** Tidies up when nothing was appended for a while, so that the next opening has little to read. */
  #awaitPause(): void {
    this.#appendsSincePause = 0;
    this.#pause = setTimeout(() => {
      if (this.#closing !== null || this.#failure !== null) return;
      if (this.#appendsSincePause === 0 && !this.#isOwner()) return this.#taken();
      if (this.#appendsSincePause === 0 && this.#isUntidy()) {
        this.#isTidyingUp = true;
        this.#goOn();
      }
      this.#awaitPause();
    }, this.#parts.limits.idleMs).unref();
  }

  #isOwner(): boolean {
    const { store, epoch } = this.#parts;
    return store.meta.getEntry(OWNER)?.version === epoch;
  }

  /** Another opening has the journal now, and no commit has shown it yet. */
  #taken(): void {
    const { directory, epoch, onFailure } = this.#parts;
    const failure = fenced(directory, epoch);
    this.#fail(failure, []);
    onFailure(failure);
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw closed(this.#parts.directory);
  }

  #checked(key: string, bytes: Buffer, stored: Buffer): Uint8Array {
    const value = unprotect(bytes, stored);
    if (value === null) {
      throw damaged(this.#parts.directory, `the value of ${JSON.stringify(key)} has a wrong checksum`);
    }
    return value;
  }
}

/**
 * lmdb-js tells those who wait only that a commit failed, and why in a second promise. It must be looked at in any
 * case: a rejection that nobody handles would end the process.
 */
async function reason(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
}
