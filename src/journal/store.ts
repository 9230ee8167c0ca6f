/** The lmdb file behind a journal: how it is opened, and the three tables in it. */

import { crc32 } from "node:zlib";
import { type Database, open, type RootDatabase } from "lmdb";
import type { Durability, JournalIdentity } from "./journal.js";
import { damaged } from "./problems.js";

export interface Store {
  readonly root: RootDatabase<Buffer, Uint8Array>;
  /** The newest value of each key, as far as commits were carried over; see `record.ts`. */
  readonly main: Database<Buffer, Uint8Array>;
  /** Commits that were not carried over yet, under increasing numbers. */
  readonly log: Database<Buffer, Uint8Array>;
  /** One record: whose journal it is, with the number of the opening (the epoch) as its version. */
  readonly meta: Database<Buffer, string>;
}

/** What lmdb says itself if it misses a page. */
const TABLE_MISSING = -30797;

/** The key of the one record of the meta table. */
export const OWNER = "owner";

/** Address space, not memory or disk. Growing beyond it works, too, but remaps the file in the middle of a commit. */
const MAP_BYTES = 2 ** 30;

/**
 * - `overlappingSync: false`: a commit is acknowledged when lmdb has synced it. With overlapping syncs, which is
 *   lmdb-js's own default, a sync that fails is never reported to those who wait for it, and there is nothing to
 *   gain here: there is one commit at a time, and the next one gathers meanwhile.
 * - `noSync` for `written`: lmdb leaves it to the operating system when to write to the disk, and in which order.
 * - `eventTurnBatching: false`: what belongs together is put into one block explicitly.
 * - `noMemInit` stays off: old memory of the process does not leak into the file.
 */
export function openStore(directory: string, durability: Durability): Store {
  return withTables(
    open<Buffer, Uint8Array>({
      path: directory,
      noSubdir: false,
      maxDbs: 3,
      mapSize: MAP_BYTES,
      encoding: "binary",
      overlappingSync: false,
      noSync: durability === "written",
      eventTurnBatching: false,
    }),
  );
}

/** Takes part as a reader only: works while a service runs, and stops nobody. */
export function openStoreToRead(directory: string): Store {
  return withTables(
    open<Buffer, Uint8Array>({
      path: directory,
      noSubdir: false,
      maxDbs: 3,
      encoding: "binary",
      overlappingSync: false,
      readOnly: true,
    }),
  );
}

function withTables(root: RootDatabase<Buffer, Uint8Array>): Store {
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  // A reader gets undefined for a table that is not there, though lmdb-js has no type for that.
  const main: Database<Buffer, Uint8Array> | undefined = root.openDB("main", binary);
  const log: Database<Buffer, Uint8Array> | undefined = root.openDB("log", binary);
  const meta: Database<Buffer, string> | undefined = root.openDB("meta", {
    encoding: "binary",
    useVersions: true,
  });
  if (main !== undefined && log !== undefined && meta !== undefined) return { root, main, log, meta };
  void root.close();
  throw Object.assign(new Error("A table is missing."), { code: TABLE_MISSING });
}

/** Waits until the disk has what was committed, for journals whose commits do not. */
export function syncStore({ root }: Store): Promise<void> {
  const { sync } = root as unknown as { sync(done: (error?: Error) => void): void };
  return new Promise((resolve, reject) => {
    sync.call(root, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * How many entries a table says it has, in the transaction that is being read. A damaged page can look like the end
 * of a table to lmdb, so whoever reads all of one should count.
 */
export function entryCount(table: Store["main"] | Store["log"]): number {
  return (table.getStats() as { entryCount: number }).entryCount;
}

/** Eight bytes, highest first, so that lmdb's order is that of the numbers. */
export function logKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeBigUInt64BE(BigInt(number));
  return key;
}

export function logNumber(key: Uint8Array): number {
  return Number(Buffer.from(key).readBigUInt64BE());
}

/** The record of the meta table: a CRC-32, then the identity as JSON. */
export function ownerRecord({ program, format }: JournalIdentity): Buffer {
  const text = Buffer.from(JSON.stringify({ program, format }));
  const record = Buffer.concat([Buffer.alloc(4), text]);
  record.writeUInt32LE(crc32(text));
  return record;
}

/** The record must say what `journal.json` says; otherwise the files were mixed up or damaged. */
export function checkOwner(directory: string, identity: JournalIdentity, record: Buffer): void {
  const text = record.subarray(4);
  if (record.length < 4 || crc32(text) !== record.readUInt32LE(0)) {
    throw damaged(directory, "its record of whose journal it is has a wrong checksum");
  }
  if (!record.equals(ownerRecord(identity))) {
    throw damaged(
      directory,
      `journal.json speaks of "${identity.program}", data.mdb says ${text.toString()}`,
    );
  }
}
