import { constants } from "node:fs";
import { copyFile, mkdir, open, rename, rm, stat, statfs, truncate } from "node:fs/promises";
import { join } from "node:path";
import { EntryBuffer } from "../entry.js";
import { DIRECTORY_MODE, FILE_MODE, syncDirectory } from "../files.js";
import { type Generation, generationName } from "./generations.js";
import { headerOf } from "./header.js";
import { LmdbBuilder, type TableChange } from "./lmdb-file.js";
import { chunksOf, writeSums } from "./sums.js";

/** What becomes of one key; null deletes it. */
export interface Changed {
  readonly key: string;
  readonly value: Uint8Array | null;
}

export interface BuildTask {
  readonly directory: string;
  readonly journal: string;
  readonly epoch: number;
  /** The table to begin with. */
  readonly from: Generation | null;
  /** The new table has all groups up to this one. */
  readonly applied: number;
  /** In the order of the keys, so that neighbours share pages. Undefined is a break in which others run. */
  readonly changes: Iterable<Changed | undefined>;
}

/** What is done in one transaction. */
const PORTION_OPERATIONS = 512;
const PORTION_BYTES = 2 ** 20;
const PAGE_BYTES = 4096;
/** Pages that one change can make anew: a path from the root to a leaf, and the halves of split pages. */
const PAGES_PER_CHANGE = 8;
/** What must stay free on the disk for everything else. */
const MARGIN_BYTES = 16 * 2 ** 20;

/**
 * Makes the next table. Every block that lmdb will write to is made by us before, full of zeros, because lmdb does not survive
 * a full disk (version 3.5.6 overruns a buffer when it says so); for us it is an error, and the table is built later.
 */
export async function buildTable(task: BuildTask): Promise<Generation> {
  const { directory, from, applied, epoch, journal } = task;
  const name = generationName(applied, epoch);
  const draft = join(directory, `${name}.new`);
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  try {
    await rm(draft, { force: true });
    if (from !== null) await copy(from, draft, directory);
    await applyAll(draft, directory, task.changes);
    await finish(draft);
    const sums = { journal, applied, ...(await chunksOf(draft)) };
    const path = join(directory, `${name}.mdb`);
    await rename(draft, path);
    await writeSums(join(directory, `${name}.sum.new`), sums);
    await rename(join(directory, `${name}.sum.new`), join(directory, `${name}.sum`));
    syncDirectory(directory);
    return { name, path, applied, bytes: sums.bytes };
  } catch (error) {
    for (const ending of ["new", "new-lock", "sum.new"]) {
      await rm(join(directory, `${name}.${ending}`), { force: true });
    }
    throw error;
  } finally {
    await rm(`${draft}-lock`, { force: true });
  }
}

async function copy(from: Generation, draft: string, directory: string): Promise<void> {
  await mustHaveRoom(directory, from.bytes);
  await copyFile(from.path, draft, constants.COPYFILE_FICLONE);
}

async function applyAll(draft: string, directory: string, changes: BuildTask["changes"]): Promise<void> {
  const entries = new EntryBuffer();
  let builder: LmdbBuilder | null = null;
  let portion: TableChange[] = [];
  let bytes = 0;
  const apply = async () => {
    await mustHaveRoom(directory, 0);
    builder ??= new LmdbBuilder(draft); // which writes two pages
    await makeRoom(draft, directory, portion.length, bytes);
    await builder.apply(portion);
    portion = [];
    bytes = 0;
  };
  try {
    for (const change of changes) {
      if (change === undefined) {
        await new Promise(setImmediate);
        continue;
      }
      const { key, stored } = entries.add(change.key, change.value ?? NOTHING);
      portion.push({ key, stored: change.value === null ? null : stored });
      bytes += key.length + stored.length;
      if (portion.length >= PORTION_OPERATIONS || bytes >= PORTION_BYTES) await apply();
    }
    await apply();
  } finally {
    // The type does not see that `apply` has set it.
    await (builder as LmdbBuilder | null)?.close();
  }
}

const NOTHING = new Uint8Array(0);

/** Blocks for all pages that a transaction of this size may write. */
async function makeRoom(draft: string, directory: string, operations: number, bytes: number): Promise<void> {
  const header = headerOf(draft);
  if (header.kind !== "fine") throw new Error(`lmdb made no table of ${draft}`);
  const used = header.bytesMax;
  const pages = Math.min(operations * PAGES_PER_CHANGE, used / PAGE_BYTES + operations * 2);
  const needed = used + (pages + operations + 16) * PAGE_BYTES + 2 * bytes;
  const present = (await stat(draft)).size;
  if (present >= needed) return mustHaveRoom(directory, 0);
  await mustHaveRoom(directory, needed - present);
  const file = await open(draft, "r+");
  try {
    for (let at = present; at < needed; at += ZEROS.length) {
      await file.write(ZEROS, 0, Math.min(ZEROS.length, needed - at), at);
    }
  } finally {
    await file.close();
  }
}

const ZEROS = Buffer.alloc(2 ** 20);

async function mustHaveRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= bytes + MARGIN_BYTES) return;
  throw Object.assign(new Error(`ENOSPC: ${bytes} bytes would leave less than ${MARGIN_BYTES} free`), {
    code: "ENOSPC",
  });
}

/** Gives the file the length that its last page asks for, and lets the disk have it. */
async function finish(draft: string): Promise<void> {
  const header = headerOf(draft);
  if (header.kind === "fine") await truncate(draft, header.bytesMax);
  const file = await open(draft, "r+", FILE_MODE);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
