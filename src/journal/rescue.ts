/** Copies of a journal: of one that a service writes to, and of what is left of a damaged one. */

import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Card, existingCard, logIn, replaceCard, tableIn } from "./directory.js";
import { DIRECTORY_MODE, FILE_MODE, syncDirectory } from "./files.js";
import { FileDisk } from "./log/file-disk.js";
import { FrameBuffer } from "./log/frame.js";
import { type FoundLog, readLog } from "./log/read-log.js";
import { SEGMENT_HEAD_BYTES, sealedName, segmentHeadBytes, segmentName } from "./log/segment.js";
import { OwnerLock } from "./owner-lock.js";
import { damaged, failed, notAJournal } from "./problems.js";
import { damageOf, type FoundGenerations, findGenerations } from "./table/generations.js";

/** What a service changes while it is copied is read again so often before it counts as damage. */
const COPIES_MAX = 10;
const COPY_AGAIN_MS = 50;

export interface Copied {
  /** The last group that the copy has. */
  readonly last: number;
  /** What the copy lacks, and why. */
  readonly damages: readonly string[];
}

/**
 * Copies a journal to a directory that is not there yet, also while a service writes to the journal, which does not notice. The
 * copy has everything that was acknowledged before it began, and is of one moment.
 */
export async function backup(directory: string, target: string): Promise<Copied> {
  const [from, to] = [resolve(directory), resolve(target)];
  const card = existingCard(from);
  if (existsSync(to))
    throw notAJournal(to, "it is there already", "Name a directory that does not exist yet");
  const draft = `${to}.new`;
  try {
    for (let copies = 1; ; copies++) {
      const copied = await copyOnce(from, draft, card);
      if (copied.damages.length === 0) {
        renameSync(draft, to);
        return copied;
      }
      if (copies === COPIES_MAX) throw damaged(from, copied.damages.join("; "));
      await new Promise((done) => setTimeout(done, COPY_AGAIN_MS));
    }
  } catch (error) {
    throw failed(from, "copying it", error);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

export interface Repaired extends Copied {
  /** Where the damaged journal is now; null if there was nothing to repair. */
  readonly moved: string | null;
}

/**
 * Puts the journal as it was before the first group that is lost into the place of a damaged one, which is kept beside it.
 * Groups behind the lost one are left out: they may have been made of what it wrote.
 */
export async function repair(directory: string): Promise<Repaired> {
  const path = resolve(directory);
  const card = existingCard(path);
  const lock = await OwnerLock.prepare(path, {});
  const draft = `${path}.repaired`;
  try {
    await lock.install();
    lock.confirm(); // there is no log that could decide for another one
    const copied = await copyOnce(path, draft, card);
    if (copied.damages.length === 0) return { ...copied, moved: null };
    if (copied.last === 0) throw damaged(path, `${copied.damages.join("; ")}; nothing is left to begin with`);
    const moved = freeName(`${path}.damaged`);
    lock.remove();
    lock.close();
    renameSync(path, moved);
    renameSync(draft, path);
    return { ...copied, moved };
  } catch (error) {
    throw failed(path, "repairing it", error);
  } finally {
    lock.remove();
    lock.close();
    rmSync(draft, { recursive: true, force: true });
  }
}

function freeName(wanted: string): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}-${i}`;
    if (!existsSync(name)) return name;
  }
}

/** The newest sound table, and the log behind it as far as it is whole. */
async function copyOnce(from: string, to: string, card: Card): Promise<Copied> {
  rmSync(to, { recursive: true, force: true });
  for (const each of [to, logIn(to), tableIn(to)]) mkdirSync(each, { mode: DIRECTORY_MODE });
  const generations = await findGenerations(tableIn(from), card.id);
  const tableDamage = await copyTable(generations, from, to);
  const applied = generations.newest?.applied ?? 0;
  const { log, last } = copyLog(from, to, card, applied);
  for (const each of [logIn(to), tableIn(to), to]) syncDirectory(each);
  replaceCard(to, card);
  const damages = card.complete ? [...generations.damages, ...tableDamage, ...log.damages] : [];
  return { last, damages };
}

async function copyTable({ newest }: FoundGenerations, from: string, to: string): Promise<string[]> {
  if (newest === null) return [];
  try {
    for (const ending of ["mdb", "sum"]) {
      const name = `${newest.name}.${ending}`;
      await copyFile(join(tableIn(from), name), join(tableIn(to), name));
    }
  } catch (error) {
    return [
      `table/${newest.name} went away while it was copied (${error instanceof Error ? error.message : error})`,
    ];
  }
  const damage = await damageOf({ ...newest, path: join(tableIn(to), `${newest.name}.mdb`) });
  return damage === null ? [] : [damage];
}

/** All frames behind the table, in one segment. */
function copyLog(from: string, to: string, card: Card, applied: number): { log: FoundLog; last: number } {
  const disk = new FileDisk(logIn(from), false);
  const draft = join(logIn(to), "draft");
  const file = openSync(draft, "w", FILE_MODE);
  let [at, last] = [SEGMENT_HEAD_BYTES, applied];
  try {
    const frame = new FrameBuffer();
    const { epoch } = readLog(disk, card.id, applied, () => {});
    const log = readLog(disk, card.id, applied, (sequence, writes) => {
      frame.addRaw(writes);
      const bytes = frame.seal({ epoch, segment: 0, sequence });
      at += writeSync(file, bytes, 0, bytes.length, at);
      last = sequence;
      frame.clear();
    });
    const head = {
      epoch,
      index: 0,
      first: applied + 1,
      bytes: at,
      isSynced: true,
      journal: card.id,
      boot: "",
    };
    writeSync(file, segmentHeadBytes(head), 0, SEGMENT_HEAD_BYTES, 0);
    renameSync(draft, join(logIn(to), sealedName(segmentName(epoch, 0))));
    return { log, last };
  } finally {
    closeSync(file);
  }
}
