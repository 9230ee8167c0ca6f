import { existsSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Database, open, type RootDatabase } from "lmdb";
import { unprotect } from "./entry.js";
import type { JournalIdentity } from "./journal.js";
import { readWrites } from "./log/frame.js";
import type { Changed } from "./table/build.js";
import { mergeNewest } from "./table/merge.js";
import { Overlay } from "./table/overlay.js";

const OWNER = "owner";
const CRC_BYTES = 4;

/**
 * A journal of layout 1, to be read for the last time. `data.mdb` holds three tables: `main` with a value for each key, `log`
 * with commits that are not in `main` yet, each behind its CRC-32, and `meta` with the record of whose journal it is, whose
 * version is the epoch. Throws an `Error` that says what is damaged.
 */
export class OneFile {
  readonly #root: RootDatabase<Buffer, Uint8Array>;
  readonly #main: Database<Buffer, Uint8Array>;
  readonly #log: Database<Buffer, Uint8Array>;
  readonly #meta: Database<Buffer, string>;
  readonly #record: Buffer;

  constructor(directory: string, identity: JournalIdentity) {
    if (!existsSync(join(directory, "data.mdb"))) throw new Error("data.mdb is missing");
    this.#root = open<Buffer, Uint8Array>({
      path: directory,
      noSubdir: false,
      maxDbs: 3,
      mapSize: 2 ** 30,
      encoding: "binary",
      overlappingSync: false,
      eventTurnBatching: false,
    });
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    this.#main = this.#root.openDB("main", binary);
    this.#log = this.#root.openDB("log", binary);
    this.#meta = this.#root.openDB("meta", { encoding: "binary", useVersions: true });
    this.#record = recordOf(identity);
  }

  /** From now on, a process of an older version that has the journal open can commit nothing more. */
  takeOver(): number {
    return this.#root.transactionSync(() => {
      const owner = this.#meta.getEntry(OWNER);
      if (owner === undefined) throw new Error("its record of whose journal it is is missing");
      if (!owner.value.equals(this.#record)) {
        throw new Error(
          `data.mdb is not what journal.json says: ${owner.value.subarray(CRC_BYTES).toString()}`,
        );
      }
      const epoch = (owner.version ?? 0) + 1;
      this.#meta.putSync(OWNER, this.#record, epoch);
      if (this.#meta.getEntry(OWNER)?.version !== epoch) throw new Error("lmdb cannot write to data.mdb");
      return epoch;
    });
  }

  /** The newest value of each key, in order. Everything is checked, and counted: a damaged page can look like an end. */
  *entries(): Iterable<Changed> {
    const recent = this.#readLog();
    let missing = entryCount(this.#main);
    function* counted(table: Database<Buffer, Uint8Array>) {
      for (const entry of table.getRange()) {
        missing -= 1;
        yield entry;
      }
    }
    let before: Buffer | null = null;
    for (const { key, newest, stored } of mergeNewest(counted(this.#main), recent.from("", ""))) {
      const bytes = Buffer.from(key);
      if (before !== null && Buffer.compare(before, bytes) >= 0)
        throw new Error(`the keys of data.mdb are not in order`);
      before = bytes;
      const value = newest ?? unprotect(bytes, stored);
      if (value === null) throw new Error(`the value of ${JSON.stringify(key)} has a wrong checksum`);
      // A key that is in the wrong place can be gone through, but not found.
      if (newest === undefined && this.#main.getBinary(bytes) === undefined) {
        throw new Error(`${JSON.stringify(key)} cannot be found in data.mdb`);
      }
      yield { key, value };
    }
    if (missing !== 0) throw new Error(`${missing} entries of data.mdb are missing`);
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  #readLog(): Overlay {
    const recent = new Overlay();
    let missing = entryCount(this.#log);
    for (const { key, value } of this.#log.getRange()) {
      missing -= 1;
      const writes = value.subarray(CRC_BYTES);
      if (value.length < CRC_BYTES || crc32(writes) !== value.readUInt32LE(0)) {
        throw new Error(`commit ${Buffer.from(key).readBigUInt64BE()} of its log has a wrong checksum`);
      }
      readWrites(writes, (each, newest) => recent.set(each, newest === null ? null : Buffer.from(newest)));
    }
    if (missing !== 0) throw new Error(`its log ends ${missing} commits too early`);
    return recent;
  }
}

function recordOf({ program, format }: JournalIdentity): Buffer {
  const text = Buffer.from(JSON.stringify({ program, format }));
  const record = Buffer.concat([Buffer.alloc(CRC_BYTES), text]);
  record.writeUInt32LE(crc32(text));
  return record;
}

function entryCount(table: Database<Buffer, Uint8Array>): number {
  return (table.getStats() as { entryCount: number }).entryCount;
}
