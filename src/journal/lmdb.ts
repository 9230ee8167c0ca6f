import { resolve } from "node:path";
import { CARRY_OVER_LIMITS, type CarryOverLimits } from "./carry-over.js";
import { type Card, claim, dataFile, markComplete } from "./directory.js";
import { fillUp } from "./header.js";
import type { Durability, Journal, JournalIdentity } from "./journal.js";
import { LmdbJournal } from "./lmdb-journal.js";
import { Overlay } from "./overlay.js";
import { checkLength } from "./probe.js";
import { damaged, failed, openWithAnotherDurability } from "./problems.js";
import { readCommit } from "./record.js";
import { checkOwner, entryCount, logNumber, OWNER, openStore, ownerRecord, type Store } from "./store.js";

export interface LmdbJournalOptions {
  readonly durability: Durability;
  /** Hears of what is no error, but should be known. */
  readonly onWarning?: (text: string) => void;
  readonly carryOver?: Partial<CarryOverLimits>;
}

/**
 * Opens the journal in a directory, or makes one. Whoever has it open already, in this process or another, is fenced
 * off: it can write nothing more. An opening that fails changes nothing and fences nobody.
 */
export async function openLmdbJournal(
  directory: string,
  identity: JournalIdentity,
  options: LmdbJournalOptions,
): Promise<Journal> {
  const path = resolve(directory);
  const card = claim(path, identity);
  await checkLength(path, options.onWarning);
  const release = share(path, options.durability);
  let store: Store | undefined;
  try {
    store = openStore(path, options.durability);
    const taken = takeOver(path, store, card);
    if (!card.complete) markComplete(path, card);
    return new LmdbJournal({
      ...taken,
      directory: path,
      store,
      isSynced: options.durability === "synced",
      limits: { ...CARRY_OVER_LIMITS, ...options.carryOver },
      release,
    });
  } catch (error) {
    await store?.root.close();
    release();
    throw failed(path, "opening it", error);
  }
}

/** What an opening finds: the number it got, and the part of the log that is not in the main table. */
interface Taken {
  readonly epoch: number;
  readonly overlay: Overlay;
  /** The numbers of the oldest commit in the log and of the next one. */
  readonly first: number;
  readonly next: number;
}

/**
 * One transaction: while it holds lmdb's lock nobody else commits, so the log that is read here is all of it, and
 * after it only this opening's commits go through. Everything is checked before anything is written.
 */
function takeOver(path: string, store: Store, card: Card): Taken {
  return store.root.transactionSync(() => {
    const takeBack = fillUp(dataFile(path));
    try {
      return takeOverLocked(path, store, card);
    } catch (error) {
      takeBack();
      throw error;
    }
  });
}

function takeOverLocked(path: string, { meta, log }: Store, card: Card): Taken {
  const owner = meta.getEntry(OWNER);
  if (owner === undefined && card.complete) {
    throw damaged(path, "its record of whose journal it is is missing");
  }
  if (owner !== undefined) checkOwner(path, card, owner.value);
  const overlay = new Overlay();
  let first = 0;
  let last = 0;
  let missing = entryCount(log);
  for (const { key, value } of log.getRange()) {
    missing -= 1;
    last = logNumber(key);
    first ||= last;
    if (!readCommit(value, (each, newest) => overlay.set(each, newest))) {
      throw damaged(path, `commit ${last} of its log has a wrong checksum`);
    }
  }
  if (missing !== 0) throw damaged(path, `its log ends ${missing} commits too early`);
  const epoch = (owner?.version ?? 0) + 1;
  meta.putSync(OWNER, ownerRecord(card), epoch);
  // lmdb-js says nothing of a write that went wrong inside lmdb, but reading after it fails.
  if (meta.getEntry(OWNER)?.version !== epoch) throw damaged(path, "lmdb cannot write to it");
  return { epoch, overlay, first: first || last + 1, next: last + 1 };
}

/** lmdb opens a file once in a process, so the first opening decides for all whether commits are synced. */
const openHere = new Map<string, { readonly durability: Durability; count: number }>();

function share(path: string, durability: Durability): () => void {
  const entry = openHere.get(path) ?? { durability, count: 0 };
  if (entry.durability !== durability) throw openWithAnotherDurability(path, entry.durability, durability);
  openHere.set(path, entry);
  entry.count += 1;
  return () => {
    entry.count -= 1;
    if (entry.count === 0) openHere.delete(path);
  };
}
