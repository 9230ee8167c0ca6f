/**
 * The directory of a journal: `journal.json` says whose it is, `data.mdb` and `lock.mdb` are lmdb's. Everything here
 * is decided by reading plain files, before lmdb sees them, because lmdb writes into a directory as it opens it and
 * takes what it finds in a file at its word.
 */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { HeadwaterError } from "../errors.js";
import { headerOf } from "./header.js";
import type { JournalIdentity } from "./journal.js";
import { anotherFormat, anotherProgram, damaged, failed, notAJournal } from "./problems.js";

/** Of the files and of what `record.ts` writes into them; what keys and values mean is the caller's `format`. */
export const LAYOUT = 1;

const CARD = "journal.json";
const CARD_DRAFT = "journal.json.new";
const DATA = "data.mdb";
const LMDB_LOCK = "lock.mdb";

/** Only the owner of the files can read them: they hold all that the program knows. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const OTHERS = 0o077;
const OTHERS_MAY_WRITE = 0o022;

/** What `journal.json` says. */
export interface Card extends JournalIdentity {
  readonly layout: number;
  /** False while the journal is being made: nothing was acknowledged yet, so there is nothing to be missed. */
  readonly complete: boolean;
}

/** Checks a directory, or makes it a journal's. After an error, it is as it was. */
export function claim(directory: string, identity: JournalIdentity): Card {
  try {
    const card = cardIn(directory);
    if (card === null) return makeCard(directory, identity);
    check(directory, card, identity);
    return card;
  } catch (error) {
    throw failed(directory, "opening it", error);
  }
}

/** The card of a journal that is there already. */
export function existingCard(directory: string): Card {
  try {
    const card = cardIn(directory);
    if (card === null) throw noJournal(directory);
    if (card.layout !== LAYOUT) throw anotherFormat(directory, "the layout", card.layout, LAYOUT);
    checkData(directory, card);
    return card;
  } catch (error) {
    throw failed(directory, "opening it", error);
  }
}

function noJournal(directory: string): HeadwaterError {
  if (statSync(directory, { throwIfNoEntry: false }) !== undefined) {
    return notAJournal(directory, "there is nothing in it", "Name a directory that holds a journal");
  }
  return new HeadwaterError(
    "HW-2004",
    `there is no directory ${directory}. Name the one that the program was given as its journal.`,
  );
}

export function dataFile(directory: string): string {
  return join(directory, DATA);
}

/** From now on, a missing `data.mdb` is a loss. */
export function markComplete(directory: string, card: Card): void {
  renameSync(writeDraft(directory, { ...card, complete: true }), join(directory, CARD));
  for (const name of readdirSync(directory)) {
    if (isDraft(name)) rmSync(join(directory, name), { force: true }); // of a process that was killed
  }
  syncDirectory(directory);
}

/**
 * Makes lmdb's files before lmdb does, whose files every user can read, and tightens the files of older versions.
 */
export function keepPrivate(directory: string, onWarning?: (text: string) => void): void {
  if (process.platform === "win32") return;
  for (const file of [CARD, DATA, LMDB_LOCK].map((name) => join(directory, name))) {
    closeSync(openSync(file, "a", FILE_MODE));
    const { mode } = statSync(file);
    if ((mode & OTHERS) === 0) continue;
    try {
      chmodSync(file, FILE_MODE);
    } catch (error) {
      if (!isCode(error, "EPERM")) throw error;
      onWarning?.(`others can read ${file}, and only its owner can change that: chmod 600 ${file}`);
    }
  }
  if ((statSync(directory).mode & OTHERS_MAY_WRITE) !== 0) {
    onWarning?.(`others can replace files in ${directory}: chmod 700 ${directory}`);
  }
}

function makeCard(directory: string, identity: JournalIdentity): Card {
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  const card: Card = { ...identity, layout: LAYOUT, complete: false };
  const draft = writeDraft(directory, card);
  try {
    // Unlike a rename, this fails if another process was faster; then its card counts.
    linkSync(draft, join(directory, CARD));
  } catch (error) {
    // ENOENT: the faster one has cleared the draft away.
    if (!isCode(error, "EEXIST") && !isCode(error, "ENOENT")) throw error;
    return claim(directory, identity);
  } finally {
    rmSync(draft, { force: true });
  }
  syncDirectory(directory);
  return card;
}

/** Each process has a draft of its own: several may be making the journal at the same time. */
function isDraft(name: string): boolean {
  return name.startsWith(CARD_DRAFT);
}

/** Null if there is no such directory or nothing in it. */
function cardIn(directory: string): Card | null {
  const names = namesIn(directory).filter((name) => !isDraft(name));
  if (names.length === 0) return null;
  if (!names.includes(CARD)) {
    const some = names.slice(0, 3).join(", ");
    throw notAJournal(directory, `it holds ${names.length > 3 ? `${some} and more` : some}, but no ${CARD}`);
  }
  return readCard(directory);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    if (isCode(error, "ENOTDIR")) throw notAJournal(directory, "it is a file");
    throw error;
  }
}

function readCard(directory: string): Card {
  const text = readFileSync(join(directory, CARD), "utf8");
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (error) {
    throw damaged(directory, `${CARD} cannot be read`, error);
  }
  const { headwater, layout, program, format, complete } = (written ?? {}) as Record<string, unknown>;
  if (headwater !== "journal") throw notAJournal(directory, `its ${CARD} is of another kind`);
  if (typeof layout !== "number" || typeof program !== "string" || typeof format !== "number") {
    throw damaged(directory, `${CARD} is not as it was written`);
  }
  return { layout, program, format, complete: complete === true };
}

function check(directory: string, card: Card, identity: JournalIdentity): void {
  if (card.layout !== LAYOUT) throw anotherFormat(directory, "the layout", card.layout, LAYOUT);
  if (card.program !== identity.program) throw anotherProgram(directory, card.program, identity.program);
  if (card.format !== identity.format) {
    throw anotherFormat(directory, "the format", card.format, identity.format);
  }
  checkData(directory, card);
}

/** While a journal is being made, its data file may be half written: lmdb itself waits for the one that makes it. */
function checkData(directory: string, card: Card): void {
  if (!card.complete) return;
  const header = headerOf(dataFile(directory));
  if (header.kind === "fine") return;
  throw damaged(directory, header.kind === "missing" ? `${DATA} is missing` : `${DATA} ${header.why}`);
}

function writeDraft(directory: string, { layout, program, format, complete }: Card): string {
  const text = `${JSON.stringify({ headwater: "journal", layout, program, format, complete }, null, 2)}\n`;
  const draft = join(directory, `${CARD_DRAFT}-${randomBytes(8).toString("hex")}`);
  writeFileSync(draft, text, { flush: true, mode: FILE_MODE });
  return draft;
}

/** A new name is safe only when its directory is. Not every system can do that; there, it is not needed. */
function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
