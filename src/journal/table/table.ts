import { unprotect } from "../entry.js";
import type { KeyTable } from "../journal.js";
import { checkKey } from "../keys.js";
import { damaged, failed } from "../problems.js";
import type { SortedMap } from "../sorted-map.js";
import type { Generation } from "./generations.js";
import { LmdbFile } from "./lmdb-file.js";
import { mergeNewest } from "./merge.js";
import { Overlay, type OverlayEntry } from "./overlay.js";

/** What a file has, as of one position of the log. */
export interface StoredTable {
  readonly position: number;
  range(): Iterable<[key: string, value: Uint8Array]>;
}

/**
 * The newest value of each key: what groups have written lately, in memory, over a file with all that was before. The
 * file is replaced by the next one when that has what was in memory.
 */
export class JournalTable implements KeyTable {
  readonly #directory: string;
  readonly #overlay = new Overlay();
  #file: Shared | null;
  #generation: Generation | null;

  constructor(directory: string, generation: Generation | null) {
    this.#directory = directory;
    this.#generation = generation;
    this.#file = generation === null ? null : this.#open(generation);
  }

  get generation(): Generation | null {
    return this.#generation;
  }

  /** What is in memory and not on its way to the file: keys, and about how many bytes. */
  get recentKeys(): number {
    return this.#overlay.recentKeys;
  }

  get recentBytes(): number {
    return this.#overlay.recentBytes;
  }

  /** With what is on its way to the file. */
  get bytesInMemory(): number {
    return this.#overlay.recentBytes + this.#overlay.frozenBytes;
  }

  set(key: string, value: Uint8Array | null): void {
    this.#overlay.set(key, value);
  }

  get(key: string): Uint8Array | undefined {
    checkKey(key);
    const recent = this.#overlay.get(key);
    if (recent !== undefined) return recent ?? undefined;
    if (this.#file === null) return undefined;
    const bytes = Buffer.from(key);
    try {
      const stored = this.#file.lmdb.get(bytes);
      return stored === undefined ? undefined : this.#checked(key, bytes, stored);
    } catch (error) {
      throw failed(this.#directory, "reading it", error);
    }
  }

  /** What the file has, whatever is in memory; null if there is none. It is to be read at once, and may take its time. */
  get stored(): StoredTable | null {
    const [file, generation] = [this.#file, this.#generation];
    if (file === null || generation === null) return null;
    return { position: generation.applied, range: () => this.#merged(file, {}, []) };
  }

  *range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    if (prefix !== "") checkKey(prefix);
    const file = this.#file;
    const recent = this.#overlay.from(prefix, after);
    if (file === null) {
      for (const [key, value] of recent) if (value !== null) yield [key, value];
      return;
    }
    yield* this.#merged(file, bounds(prefix, after), recent);
  }

  *#merged(
    file: Shared,
    within: ReturnType<typeof bounds>,
    recent: readonly (readonly [key: string, value: Uint8Array | null])[],
  ): Iterable<[key: string, value: Uint8Array]> {
    file.use();
    try {
      for (const { key, newest, stored } of mergeNewest(file.lmdb.range(within), recent)) {
        yield [key, newest ?? this.#checked(key, Buffer.from(key), stored)];
      }
    } catch (error) {
      throw failed(this.#directory, "reading it", error);
    } finally {
      file.release();
    }
  }

  /** What was written until now becomes a layer of its own, for the next file. */
  freeze(): SortedMap<OverlayEntry> {
    return this.#overlay.freeze();
  }

  /** This file has the frozen layer. */
  replace(generation: Generation): void {
    const next = this.#open(generation);
    this.#file?.release();
    this.#file = next;
    this.#generation = generation;
    this.#overlay.drop();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    file?.release();
    if (file?.isUsed === false) await file.closed;
  }

  #open({ path }: Generation): Shared {
    try {
      return new Shared(new LmdbFile(path));
    } catch (error) {
      throw failed(this.#directory, "opening its table", error);
    }
  }

  #checked(key: string, bytes: Buffer, stored: Buffer): Uint8Array {
    const value = unprotect(bytes, stored);
    if (value === null) {
      throw damaged(this.#directory, `the value of ${JSON.stringify(key)} has a wrong checksum`);
    }
    return value;
  }
}

function bounds(prefix: string, after: string) {
  const isFromStart = after === "";
  if (isFromStart && prefix === "") return {};
  const start = Buffer.from(isFromStart ? prefix : after);
  // No byte of UTF-8 is 255, so this is behind all keys that start so.
  const end = Buffer.concat([Buffer.from(prefix), Buffer.from([255])]);
  return { start, end, exclusiveStart: !isFromStart };
}

/** A file that is closed when the last reader has let it go. */
class Shared {
  readonly closed: Promise<void>;
  #users = 1;
  #close: () => void = () => {};

  constructor(readonly lmdb: LmdbFile) {
    this.closed = new Promise((resolve) => {
      this.#close = () => resolve(lmdb.close());
    });
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  use(): void {
    this.#users += 1;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#close();
  }
}
