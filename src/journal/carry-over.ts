import { protect } from "./record.js";
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
  keys: 131_072,
  bytes: 32 * 2 ** 20,
  commits: 8192,
  idleMs: 1000,
};

/** How much of a carry-over is done in one transaction. */
export interface Portion {
  readonly operations: number;
  readonly bytes: number;
}

/**
 * Writes the newest values of the first part of the log into the main table, then removes that part, oldest first.
 *
 * It is done in portions that ride along in the transactions of later commits: no extra syncs while there is work,
 * and no commit waits for all of it. A portion is a stretch of the keys in their order, because neighbours share
 * pages. A crash in between does no harm. Until the last value is in the main table, the log is whole, and reading
 * it again gives the same values. After that, whatever is left of it is its newest part, and the newest write of a
 * key decides.
 */
export class CarryOver {
  readonly #values: Table<Uint8Array | null>;
  readonly #keys: SortedRuns;
  #isCopied = false;
  #first: number;
  readonly #last: number;

  /** The values are those of the commits from `first` to `last`. */
  constructor(values: Table<Uint8Array | null>, first: number, last: number) {
    this.#values = values;
    this.#keys = new SortedRuns(values.keys());
    this.#first = first;
    this.#last = last;
  }

  /** The oldest commit that is left in the log once the portions until now are in the file. */
  get first(): number {
    return this.#first;
  }

  /** Adds a portion to the transaction that is being put together; true if it was the last one. */
  step(store: Store, portion: Portion): boolean {
    if (this.#keys.prepare()) return false;
    const operations = this.#isCopied ? 0 : this.#copy(store, portion);
    if (!this.#isCopied) return false;
    for (let i = operations; i < portion.operations && this.#first <= this.#last; i++) {
      store.log.remove(logKey(this.#first));
      this.#first += 1;
    }
    return this.#first > this.#last;
  }

  #copy({ main }: Store, portion: Portion): number {
    let operations = 0;
    for (let bytes = 0; operations < portion.operations && bytes < portion.bytes; operations++) {
      const text = this.#keys.take();
      if (text === undefined) {
        this.#isCopied = true;
        break;
      }
      const key = Buffer.from(text);
      const value = this.#values.get(text) ?? null;
      if (value === null) main.remove(key);
      else main.put(key, protect(key, value));
      bytes += key.length + (value?.byteLength ?? 0);
    }
    return operations;
  }
}
