import type { Entry, Overlay } from "./overlay.js";
import { EntryBuffer } from "./record.js";
import { SortedRuns } from "./runs.js";
import { logKey, type Store } from "./store.js";
import type { Table } from "./table.js";

/** When the log is carried over to the main table. */
export interface CarryOverLimits {
  /** Keys in memory that the main table does not have yet. */
  readonly keys: number;
  readonly bytes: number;
  readonly commits: number;
  /** Also after that long a pause without appends. */
  readonly idleMs: number;
}

/**
 * They bound the memory, and the log that an opening has to read, which takes well below a second. The more keys
 * there are, the more of them share a page of the main table, and the less is written for each.
 */
export const CARRY_OVER_LIMITS: CarryOverLimits = {
  keys: 262_144,
  bytes: 64 * 2 ** 20,
  commits: 8192,
  idleMs: 1000,
};

/** How much of a carry-over is done in one transaction. */
export interface Portion {
  readonly operations: number;
  readonly bytes: number;
}

/** An entry that is ready for the main table; null deletes it. */
interface Ready {
  readonly entry: Entry;
  readonly key: Buffer;
  readonly stored: Buffer | null;
}

/**
 * Writes the newest values of the first part of the log into the main table, then removes that part, oldest first.
 *
 * It is done in portions that ride along in the transactions of later commits: no extra syncs while there is work,
 * and no commit waits for all of it. A portion is a stretch of the keys in their order, because neighbours share
 * pages; it is made ready while the commit before it is on its way. A crash in between does no harm. Until the last
 * value is in the main table, the log is whole, and reading it again gives the same values. After that, whatever is
 * left of it is its newest part, and the newest write of a key decides. For the same reason, a key that was written
 * again meanwhile is left out: the later part of the log has it.
 */
export class CarryOver {
  readonly #table: Table<Entry>;
  readonly #keys: SortedRuns;
  readonly #entries = new EntryBuffer();
  #ready: Ready[] = [];
  #isCopied = false;
  #first: number;
  readonly #last: number;

  /** Freezes the overlay: its values are those of the commits from `first` to `last`. */
  constructor(overlay: Overlay, first: number, last: number) {
    this.#table = overlay.freeze();
    this.#keys = new SortedRuns(this.#table.keys());
    this.#first = first;
    this.#last = last;
  }

  /** The oldest commit that is left in the log once the portions until now are in the file. */
  get first(): number {
    return this.#first;
  }

  /** Makes a portion ready. */
  prepare(portion: Portion): void {
    if (this.#ready.length > 0 || this.#isCopied || this.#keys.prepare()) return;
    let bytes = 0;
    while (this.#ready.length < portion.operations && bytes < portion.bytes) {
      const text = this.#keys.take();
      if (text === undefined) {
        this.#isCopied = true;
        return;
      }
      const entry = this.#table.get(text);
      if (entry === undefined || entry.isOutdated) continue;
      const { key, stored } = this.#entries.add(text, entry.value ?? NOTHING);
      this.#ready.push({ entry, key, stored: entry.value === null ? null : stored });
      bytes += key.length + stored.length;
    }
  }

  /**
   * Adds what is ready to the transaction that is being put together; true if nothing is left to do. All that the
   * overlay holds must be in that transaction or before it.
   */
  step({ main, log }: Store, portion: Portion): boolean {
    const ready = this.#ready;
    this.#ready = [];
    for (const { entry, key, stored } of ready) {
      if (entry.isOutdated) continue;
      if (stored === null) main.remove(key);
      else main.put(key, stored);
    }
    if (!this.#isCopied) return false;
    for (let i = ready.length; i < portion.operations && this.#first <= this.#last; i++) {
      log.remove(logKey(this.#first));
      this.#first += 1;
    }
    return this.#first > this.#last;
  }
}

const NOTHING = new Uint8Array(0);
