/**
 * The directory of a journal: `journal.json` says whose it is, `data.mdb` and `lock.mdb` are lmdb's. Everything here
 * is decided by reading plain files, before lmdb sees them, because lmdb writes into a directory as it opens it and
 * takes what it finds in a file at its word.
 */

import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { headerOf } from "./header.js";
import type { JournalIdentity } from "./journal.js";
import { anotherFormat, anotherProgram, damaged, failed, notAJournal } from "./problems.js";

/** Of the files and of what `record.ts` writes into them; what keys and values mean is the caller's `format`. */
export const LAYOUT = 1;

const CARD = "journal.json";
const CARD_DRAFT = "journal.json.new";
const DATA = "data.mdb";

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
    if (card === null) throw notAJournal(directory, "there is nothing in it");
    if (card.layout !== LAYOUT) throw anotherFormat(directory, "the layout", card.layout, LAYOUT);
    checkData(directory, card);
    return card;
  } catch (error) {
    throw failed(directory, "opening it", error);
  }
}

export function dataFile(directory: string): string {
  return join(directory, DATA);
}

/** From now on, a missing `data.mdb` is a loss. */
export function markComplete(directory: string, card: Card): void {
  writeDraft(directory, { ...card, complete: true });
  renameSync(join(directory, CARD_DRAFT), join(directory, CARD));
  syncDirectory(directory);
}

function makeCard(directory: string, identity: JournalIdentity): Card {
  mkdirSync(directory, { recursive: true });
  const card: Card = { ...identity, layout: LAYOUT, complete: false };
  writeDraft(directory, card);
  try {
    // Unlike a rename, this fails if another process was faster; then its card counts.
    linkSync(join(directory, CARD_DRAFT), join(directory, CARD));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    return claim(directory, identity);
  } finally {
    rmSync(join(directory, CARD_DRAFT), { force: true });
  }
  syncDirectory(directory);
  return card;
}

/** Null if there is no such directory or nothing in it. */
function cardIn(directory: string): Card | null {
  const names = namesIn(directory).filter((name) => name !== CARD_DRAFT);
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

function checkData(directory: string, card: Card): void {
  const header = headerOf(dataFile(directory));
  if (header.kind === "fine" || (header.kind === "missing" && !card.complete)) return;
  throw damaged(directory, header.kind === "missing" ? `${DATA} is missing` : `${DATA} ${header.why}`);
}

function writeDraft(directory: string, { layout, program, format, complete }: Card): void {
  const text = `${JSON.stringify({ headwater: "journal", layout, program, format, complete }, null, 2)}\n`;
  writeFileSync(join(directory, CARD_DRAFT), text, { flush: true });
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
