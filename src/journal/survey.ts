/** Looks at a journal as a reader: it takes nothing over, changes nothing, and works while a service runs. */

import { resolve } from "node:path";
import { type Card, existingCard, logIn, tableIn } from "./directory.js";
import { unprotect } from "./entry.js";
import { FileDisk } from "./log/file-disk.js";
import { readWrites } from "./log/frame.js";
import { type FoundLog, readLog } from "./log/read-log.js";
import { failed } from "./problems.js";
import { damageOf, type FoundGenerations, findGenerations } from "./table/generations.js";
import { LmdbFile } from "./table/lmdb-file.js";
import { mergeNewest, type Newest } from "./table/merge.js";
import { Overlay } from "./table/overlay.js";

export interface Survey {
  readonly directory: string;
  readonly card: Card;
  /** How often it was opened to be written. */
  readonly epoch: number;
  /** Groups, and their bytes, that are in the log and not in the table's file. */
  readonly logCommits: number;
  readonly logBytes: number;
  /** Of the table's file. */
  readonly fileBytes: number;
  readonly generations: FoundGenerations;
  /** What is damaged outside of single keys; complete when all entries were read. */
  readonly damages: readonly string[];
  /** The newest value of each key, in order; null if it is damaged. */
  readonly entries: Iterable<[key: string, value: Uint8Array | null]>;
}

/** What a reader meets while a service writes is read again so often before it counts as damage. */
const READS_MAX = 10;
const READ_AGAIN_MS = 20;

interface Content {
  readonly generations: FoundGenerations;
  readonly log: FoundLog;
  readonly commits: number;
  readonly recent: Overlay;
  readonly file: LmdbFile | null;
}

/** All of it is from one moment: what is committed meanwhile is not seen. */
export async function withSurvey<T>(directory: string, look: (survey: Survey) => Promise<T>): Promise<T> {
  const path = resolve(directory);
  const card = existingCard(path);
  let content: Content | null = null;
  try {
    content = await contentOf(path, card);
    return await look(surveyOf(path, card, content));
  } catch (error) {
    throw failed(path, "reading it", error);
  } finally {
    await content?.file?.close();
  }
}

async function contentOf(path: string, card: Card): Promise<Content> {
  for (let reads = 1; ; reads++) {
    const content = await contentNow(path, card);
    if (content !== null && (content.log.damages.length === 0 || reads === READS_MAX || !card.complete))
      return content;
    await content?.file?.close();
    await new Promise((done) => setTimeout(done, READ_AGAIN_MS));
  }
}

/** Null if a file went away that was to be read: a service has made a newer one meanwhile. */
async function contentNow(path: string, card: Card): Promise<Content | null> {
  try {
    const generations = await findGenerations(tableIn(path), card.id);
    const recent = new Overlay();
    const file = generations.newest === null ? null : new LmdbFile(generations.newest.path);
    let commits = 0;
    const disk = new FileDisk(logIn(path), false);
    const log = readLog(disk, card.id, generations.newest?.applied ?? 0, (_, writes) => {
      commits += 1;
      readWrites(writes, (key, value) => recent.set(key, value === null ? null : Buffer.from(value)));
    });
    return { generations, log, commits, recent, file };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function surveyOf(
  directory: string,
  card: Card,
  { generations, log, commits, recent, file }: Content,
): Survey {
  const damages = card.complete ? [...generations.damages, ...log.damages] : [];
  let missing = file?.entries ?? 0;
  function* stored() {
    for (const entry of file?.range({}) ?? []) {
      missing -= 1;
      yield entry;
    }
    if (missing !== 0) damages.push(`${missing} entries of the table are missing`);
  }
  return {
    directory,
    card,
    epoch: log.epoch,
    logCommits: commits,
    logBytes: log.bytes,
    fileBytes: generations.newest?.bytes ?? 0,
    generations,
    damages,
    entries: checked(mergeNewest(stored(), recent.from("", ""))),
  };
}

function* checked(entries: Iterable<Newest>): Iterable<[string, Uint8Array | null]> {
  for (const { key, newest, stored } of entries) yield [key, newest ?? unprotect(Buffer.from(key), stored)];
}

/** What is damaged where it is not needed now: in the older table. */
export async function olderFaults({ generations }: Survey): Promise<string[]> {
  const { all, newest } = generations;
  const older = all.filter((each) => newest !== null && each.applied < newest.applied);
  const found = await Promise.all(older.map((each) => damageOf(each)));
  return found.filter((what) => what !== null);
}
