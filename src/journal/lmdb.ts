import { resolve } from "node:path";
import type { HeadwaterError } from "../errors.js";
import { CARRY_OVER_LIMITS, type CarryOverLimits } from "./carry-over.js";
import { type Card, claim, dataFile, keepPrivate, markComplete } from "./directory.js";
import { fillUp } from "./header.js";
import type { Durability, Journal, JournalIdentity } from "./journal.js";
import { LmdbJournal } from "./lmdb-journal.js";
import { Overlay } from "./overlay.js";
import { OwnerLock } from "./owner-lock.js";
import { checkLength } from "./probe.js";
import { damaged, failed, openWithAnotherDurability } from "./problems.js";
import { readCommit } from "./record.js";
import { checkOwner, entryCount, logNumber, OWNER, openStore, ownerRecord, type Store } from "./store.js";

export interface LmdbJournalOptions {
  readonly durability: Durability;
  /** Hears of what is no error, but should be known. */
  readonly onWarning?: (text: string) => void;
  readonly carryOver?: Partial<CarryOverLimits>;
  /** Take the journal over from a process that has it open, which can then write nothing more. */
  readonly takeOver?: boolean;
  /** Hears that another opening has taken the journal over, also when nothing is being written. */
  readonly onFailure?: (error: HeadwaterError) => void;
}

/**
 * Opens the journal in a directory, or makes one. While another opening of this machine has it, that is refused
 * (HW-3024), unless the journal is to be taken over: then the other one is fenced off and can write nothing more. So is
 * a process of another machine in any case. An opening that fails changes nothing and fences nobody.
 */
export async function openLmdbJournal(
  directory: string,
  identity: JournalIdentity,
  options: LmdbJournalOptions,
): Promise<Journal> {
  const path = resolve(directory);
  const card = claim(path, identity);
  const lock = await OwnerLock.prepare(path, options);
  let release: (() => void) | undefined;
  let store: Store | undefined;
  try {
    if (card.complete) await checkLength(path, options.onWarning);
    release = share(path, options.durability);
    keepPrivate(path, options.onWarning);
    store = openStore(path, options.durability);
    const taken = takeOver(path, store, card, lock);
    if (!card.complete) markComplete(path, card);
    return new LmdbJournal({
      ...taken,
      directory: path,
      store,
      lock,
      isSynced: options.durability === "synced",
      onFailure: options.onFailure ?? (() => {}),
      limits: { ...CARRY_OVER_LIMITS, ...options.carryOver },
      release,
    });
  } catch (error) {
    lock.close();
    await store?.root.close();
    release?.();
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
function takeOver(path: string, store: Store, card: Card, lock: OwnerLock): Taken {
  return store.root.transactionSync(() => {
    const takeBack = fillUp(dataFile(path));
    try {
      const taken = takeOverLocked(path, store, card);
      lock.install();
      return taken;
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
