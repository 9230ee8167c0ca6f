/** The only file that knows lmdb: an ordered table of keys in one file. */

import { closeSync, openSync } from "node:fs";
import { open, type RootDatabase } from "lmdb";
import { FILE_MODE } from "../files.js";

/** Address space, not memory or disk. Growing beyond it works, too, but remaps the file in the middle of a commit. */
const MAP_BYTES = 2 ** 30;

export interface RangeOptions {
  readonly start?: Buffer;
  readonly end?: Buffer;
  readonly exclusiveStart?: boolean;
}

/** One change; null deletes the key. */
export interface TableChange {
  readonly key: Buffer;
  readonly stored: Buffer | null;
}

/** A table that is being built. It is synced as a whole when it is finished, not with each transaction. */
export class LmdbBuilder {
  readonly #root: RootDatabase<Buffer, Uint8Array>;

  constructor(path: string) {
    keepPrivate(path);
    keepPrivate(`${path}-lock`);
    this.#root = openFile(path, false);
  }

  /** One transaction. */
  async apply(changes: readonly TableChange[]): Promise<void> {
    try {
      await this.#root.batch(() => {
        for (const { key, stored } of changes) {
          if (stored === null) void this.#root.remove(key);
          else void this.#root.put(key, stored);
        }
      });
    } catch (error) {
      throw await reason(error);
    }
  }

  close(): Promise<void> {
    return this.#root.close();
  }
}

/** A table that changes no more. */
export class LmdbFile {
  readonly #root: RootDatabase<Buffer, Uint8Array>;

  constructor(path: string) {
    closeSync(openSync(path, "r")); // lmdb would say less clearly that it is not there
    keepPrivate(`${path}-lock`);
    this.#root = openFile(path, true);
  }

  get(key: Buffer): Buffer | undefined {
    return this.#root.getBinary(key);
  }

  range(options: RangeOptions): Iterable<{ key: Uint8Array; value: Buffer }> {
    return this.#root.getRange(options);
  }

  /** How many entries there should be. */
  get entries(): number {
    return (this.#root.getStats() as { entryCount: number }).entryCount;
  }

  close(): Promise<void> {
    return this.#root.close();
  }
}

/**
 * - `noSync`: a file that is not finished is worth nothing, and a finished one is synced and changes no more.
 * - `overlappingSync: false`: lmdb-js would sync in the background.
 * - `eventTurnBatching: false`: what belongs together is put into one transaction explicitly.
 * - `noMemInit` stays off: old memory of the process does not leak into the file.
 */
function openFile(path: string, readOnly: boolean): RootDatabase<Buffer, Uint8Array> {
  return open<Buffer, Uint8Array>({
    path,
    noSubdir: true,
    encoding: "binary",
    keyEncoding: "binary",
    overlappingSync: false,
    noSync: true,
    eventTurnBatching: false,
    ...(readOnly ? { readOnly } : { mapSize: MAP_BYTES }),
  });
}

/** Makes a file before lmdb does, whose files every user of the machine can read. */
function keepPrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", FILE_MODE));
  } catch {
    // A copy on a medium that is read only: lmdb reads it without a lock.
  }
}

/**
 * lmdb-js tells waiting callers only that a commit failed, and why in a second promise. It must be looked at in any
 * case: an unhandled rejection would end the process.
 */
async function reason(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
}
