/**
 * Journals of layout 1 were one lmdb file with everything in it. Opening one converts it, once: another process reads all of it
 * and makes a table of it, and then `journal.json` is replaced, which is the moment of the conversion. Until then the old file is
 * as it was, and a conversion that was interrupted begins anew.
 */

import { fork } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Card, LAYOUT, logIn, replaceCard, tableIn } from "./directory.js";
import { DIRECTORY_MODE, FILE_MODE, syncDirectory } from "./files.js";
import { SEGMENT_HEAD_BYTES, sealedName, segmentHeadBytes, segmentName } from "./log/segment.js";
import { damaged, held } from "./problems.js";

/** How long a process that lives may take to release lmdb's lock. Commits take milliseconds. */
const LOCK_MS_MAX = 15_000;

/** What the other process says. */
export type Said =
  | { readonly kind: "locking" }
  | { readonly kind: "locked" }
  | { readonly kind: "damaged"; readonly what: string }
  | { readonly kind: "failed"; readonly what: string }
  | { readonly kind: "converted"; readonly epoch: number };

export interface ConvertOptions {
  readonly onWarning?: (text: string) => void;
  readonly lockMs?: number;
  /** The number of the process that had the journal before. */
  readonly predecessor: string | null;
}

export async function convert(directory: string, card: Card, options: ConvertOptions): Promise<Card> {
  const converted: Card = { ...card, layout: LAYOUT };
  if (card.complete) {
    options.onWarning?.(`${directory} is a journal of an older version, and is converted`);
    for (const folder of [logIn(directory), tableIn(directory)])
      rmSync(folder, { recursive: true, force: true });
    beginLog(directory, card, await convertApart(directory, card, options));
  }
  replaceCard(directory, converted);
  removeOneFile(directory);
  return converted;
}

/** What is left of layout 1 after the conversion. */
export function removeOneFile(directory: string): void {
  for (const name of ["data.mdb", "lock.mdb"]) rmSync(join(directory, name), { force: true });
}

/** The group that the table counts as its first; the log goes on behind it. */
export const CONVERTED = 1;

function beginLog(directory: string, card: Card, epoch: number): void {
  mkdirSync(logIn(directory), { recursive: true, mode: DIRECTORY_MODE });
  const head = { epoch, index: 0, first: CONVERTED + 1, bytes: SEGMENT_HEAD_BYTES, isSynced: true };
  const bytes = segmentHeadBytes({ ...head, journal: card.id, boot: "" });
  const path = join(logIn(directory), sealedName(segmentName(epoch, 0)));
  writeFileSync(path, bytes, { flush: true, mode: FILE_MODE });
  syncDirectory(logIn(directory));
  syncDirectory(directory);
}

/** In a process of its own: lmdb does not survive some kinds of damage, and waits for its lock without end. */
function convertApart(directory: string, card: Card, options: ConvertOptions): Promise<number> {
  const program = fileURLToPath(new URL("./convert-process.js", import.meta.url));
  const child = fork(program, [directory, JSON.stringify(card)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return new Promise((resolve, reject) => {
    let limit: NodeJS.Timeout | undefined;
    let last: Said | null = null;
    child.on("message", (message) => {
      last = message as Said;
      clearTimeout(limit);
      if (last.kind !== "locking") return;
      limit = setTimeout(() => {
        reject(held(directory, options.predecessor, "converting it"));
        child.kill("SIGKILL");
      }, options.lockMs ?? LOCK_MS_MAX);
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      if (last?.kind === "converted") return resolve(last.epoch);
      if (last?.kind === "failed") return reject(new Error(last.what));
      const what = last?.kind === "damaged" ? last.what : null;
      const ended = `data.mdb cannot be read (a process that tried to was ended by ${signal ?? code})`;
      reject(damaged(directory, what ?? ended));
    });
  });
}
