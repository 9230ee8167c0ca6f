/** Looks at a journal as a reader: it takes nothing over, changes nothing, and works while a service runs. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Card, dataFile, existingCard } from "./directory.js";
import { mergeNewest, type Newest } from "./merge.js";
import { Overlay } from "./overlay.js";
import { failed } from "./problems.js";
import { readCommit, unprotect } from "./record.js";
import { checkOwner, entryCount, logNumber, OWNER, openStoreToRead, type Store } from "./store.js";

export interface Survey {
  readonly directory: string;
  readonly card: Card;
  /** How often it was opened to be written. */
  readonly epoch: number;
  /** Commits that are not in the main table yet. */
  readonly logCommits: number;
  readonly logBytes: number;
  /** What the data file takes on the disk, free space in it included. */
  readonly fileBytes: number;
  /** What is damaged outside of single keys; complete when all entries were read. */
  readonly damages: readonly string[];
  /** How many entries should be there and were not found, when all were read. */
  missing(): number;
  /** The newest value of each key, in order; null if it is damaged. */
  readonly entries: Iterable<[key: string, value: Uint8Array | null]>;
}

/** All of it is from one moment: what is committed meanwhile is not seen. */
export async function withSurvey<T>(directory: string, look: (survey: Survey) => Promise<T>): Promise<T> {
  const path = resolve(directory);
  const card = existingCard(path);
  if (!card.complete) return look({ ...NOTHING, directory: path, card });
  let store: Store | undefined;
  try {
    store = openStoreToRead(path);
    const transaction = store.root.useReadTransaction();
    try {
      return await look(surveyOf(path, card, store, transaction));
    } finally {
      transaction.done();
    }
  } catch (error) {
    throw failed(path, "reading it", error);
  } finally {
    await store?.root.close();
  }
}

const NOTHING = {
  epoch: 0,
  logCommits: 0,
  logBytes: 0,
  fileBytes: 0,
  damages: [],
  missing: () => 0,
  entries: [],
};

type Transaction = ReturnType<Store["root"]["useReadTransaction"]>;

function surveyOf(path: string, card: Card, store: Store, transaction: Transaction): Survey {
  const { main, log, meta } = store;
  let missing = entryCount(main) + entryCount(log);
  const damages: string[] = [];
  const owner = meta.getEntry(OWNER, { transaction });
  if (owner === undefined) damages.push("the record of whose journal it is is missing");
  else attempt(damages, () => checkOwner(path, card, owner.value));
  const recent = new Overlay();
  let logCommits = 0;
  let logBytes = 0;
  for (const { key, value } of log.getRange({ transaction })) {
    missing -= 1;
    logCommits += 1;
    logBytes += value.length;
    if (!readCommit(value, (each, newest) => recent.set(each, newest))) {
      damages.push(`commit ${logNumber(key)} of the log has a wrong checksum`);
    }
  }
  function* stored() {
    for (const entry of main.getRange({ transaction })) {
      missing -= 1;
      yield entry;
    }
    if (missing !== 0) damages.push(`${missing} entries are missing`);
  }
  return {
    directory: path,
    card,
    epoch: owner?.version ?? 0,
    logCommits,
    logBytes,
    fileBytes: statSync(dataFile(path)).size,
    damages,
    missing: () => missing,
    entries: checked(mergeNewest(stored(), recent.from("", ""))),
  };
}

function* checked(entries: Iterable<Newest>): Iterable<[string, Uint8Array | null]> {
  for (const { key, newest, stored } of entries) yield [key, newest ?? unprotect(Buffer.from(key), stored)];
}

function attempt(damages: string[], check: () => void): void {
  try {
    check();
  } catch (error) {
    damages.push(error instanceof Error ? error.message : String(error));
  }
}
