/**
 * The directory of a journal: `journal.json` says whose it is, `log` has the segments of its log, `table` the files of its
 * table. What is decided here is decided by reading, before anything is written.
 */

import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { HeadwaterError } from "../errors.js";
import { DIRECTORY_MODE, FILE_MODE, isCode, syncDirectory } from "./files.js";
import type { JournalIdentity } from "./journal.js";
import { anotherFormat, anotherProgram, damaged, failed, notAJournal } from "./problems.js";

/** Of the files and of what is in them; what keys and values mean is the caller's `format`. */
export const LAYOUT = 2;
/** One lmdb file with everything; see `convert.ts`. */
export const LAYOUT_OF_ONE_FILE = 1;

const CARD = "journal.json";
const CARD_DRAFT = "journal.json.new";
const OTHERS = 0o077;
const OTHERS_MAY_WRITE = 0o022;

/** What `journal.json` says. */
export interface Card extends JournalIdentity {
  readonly layout: number;
  /** In hexadecimal; the files of the log and of the table carry it, so that none of another journal is taken for one. */
  readonly id: string;
  /** False while the journal is being made: nothing was acknowledged yet, so there is nothing to be missed. */
  readonly complete: boolean;
}

export function logIn(directory: string): string {
  return join(directory, "log");
}

export function tableIn(directory: string): string {
  return join(directory, "table");
}

/** Checks a directory, or makes it a journal's. After an error, it is as it was. */
export function claim(directory: string, identity: JournalIdentity, mustBeNamedSo = true): Card {
  try {
    const card = cardIn(directory);
    if (card === null) return makeCard(directory, identity, mustBeNamedSo);
    check(directory, card, identity, mustBeNamedSo);
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
    `there is no directory ${directory}. Name the directory that the program was given as its journal.`,
  );
}

/** Puts a card into the place of the present card. */
export function replaceCard(directory: string, card: Card): void {
  for (let isReplaced = false; !isReplaced; ) {
    const draft = writeDraft(directory, card);
    try {
      renameSync(draft, join(directory, CARD));
      isReplaced = true;
    } catch (error) {
      if (!isCode(error, "ENOENT")) throw error; // another opening has cleared the draft away
    }
  }
  for (const name of readdirSync(directory)) {
    if (isDraft(name)) rmSync(join(directory, name), { force: true }); // of a process that was killed
  }
  syncDirectory(directory);
}

/** Tightens files that others could read. */
export function keepPrivate(directory: string, onWarning?: (text: string) => void): void {
  if (process.platform === "win32") return;
  for (const folder of [directory, logIn(directory), tableIn(directory)]) {
    for (const name of namesIn(folder)) {
      const file = join(folder, name);
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined || found.isDirectory() || (found.mode & OTHERS) === 0) continue;
      try {
        chmodSync(file, FILE_MODE);
      } catch (error) {
        if (isCode(error, "ENOENT")) continue; // the socket of an opening that was refused
        if (!isCode(error, "EPERM")) throw error;
        onWarning?.(`others can read ${file}, and only its owner can change that: chmod 600 ${file}`);
      }
    }
  }
  if ((statSync(directory).mode & OTHERS_MAY_WRITE) !== 0) {
    onWarning?.(`others can replace files in ${directory}: chmod 700 ${directory}`);
  }
}

function makeCard(directory: string, identity: JournalIdentity, mustBeNamedSo: boolean): Card {
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  const { program, format } = identity;
  const card: Card = {
    program,
    format,
    layout: LAYOUT,
    id: randomBytes(16).toString("hex"),
    complete: false,
  };
  const draft = writeDraft(directory, card);
  try {
    // Unlike a rename, this fails if another process was faster; then its card counts.
    linkSync(draft, join(directory, CARD));
  } catch (error) {
    // ENOENT: the faster one has cleared the draft away.
    if (!isCode(error, "EEXIST") && !isCode(error, "ENOENT")) throw error;
    return claim(directory, identity, mustBeNamedSo);
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
  const { headwater, layout, program, format, complete, id, checksum } = (written ?? {}) as Record<
    string,
    unknown
  >;
  const isChecked = checksum !== undefined;
  if (headwater !== "journal" && !isChecked) throw notAJournal(directory, `its ${CARD} is of another kind`);
  if (typeof layout !== "number" || typeof program !== "string" || typeof format !== "number") {
    throw damaged(directory, `${CARD} is not as it was written`);
  }
  const card = { layout, program, format, complete: complete === true, id: typeof id === "string" ? id : "" };
  if (layout === LAYOUT_OF_ONE_FILE && !isChecked) return { ...card, id: idOfOneFile(card) };
  if (layout > LAYOUT && !isChecked) return card; // to be refused as newer
  if (checksum !== checksumOf(card)) throw damaged(directory, `${CARD} has a wrong checksum`);
  return card;
}

/** Journals of the first layout have no name; two processes that convert one at the same time must agree on it. */
function idOfOneFile({ program, format }: JournalIdentity): string {
  return createHash("sha256").update(`${format} ${program}`).digest("hex").slice(0, 32);
}

function check(directory: string, card: Card, identity: JournalIdentity, mustBeNamedSo: boolean): void {
  if (card.layout !== LAYOUT && card.layout !== LAYOUT_OF_ONE_FILE) {
    throw anotherFormat(directory, "the layout", card.layout, LAYOUT);
  }
  if (mustBeNamedSo && card.program !== identity.program)
    throw anotherProgram(directory, card.program, identity.program);
  if (card.format !== identity.format) {
    throw anotherFormat(directory, "the format", card.format, identity.format);
  }
}

function checksumOf({ layout, program, format, id, complete }: Card): number {
  return crc32(JSON.stringify(["journal", layout, program, format, id, complete]));
}

function writeDraft(directory: string, card: Card): string {
  const { layout, program, format, id, complete } = card;
  const checksum = checksumOf(card);
  const text = JSON.stringify(
    { headwater: "journal", layout, program, format, id, complete, checksum },
    null,
    2,
  );
  const draft = join(directory, `${CARD_DRAFT}-${randomBytes(8).toString("hex")}`);
  writeFileSync(draft, `${text}\n`, { flush: true, mode: FILE_MODE });
  return draft;
}
