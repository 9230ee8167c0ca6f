import { compareKeys, needsByteOrder } from "./keys.js";

const ADDED_MIN = 16;
/** How many more keys the lists may hold than there are before they are made anew. */
const STALE_MAX = 1024;

/**
 * Keys that can be read in order. Single keys must stay as cheap as in a Map, so the order is made on demand, from a sorted list of keys and
 * a list of those added since. The second one is searched as it is while it is short beside the first, and merged into it when not.
 * Deleted keys stay in the lists until then.
 */
export class OrderedKeys {
  readonly #has: (key: string) => boolean;
  #count = 0;
  #sorted: readonly string[] = [];
  #added: string[] = [];
  #inByteOrder = false;
  /** How many of the added keys were looked at for that. */
  #looked = 0;

  /** `has`: whether a key that was added is there still. */
  constructor(has: (key: string) => boolean) {
    this.#has = has;
  }

  /** A key that is not there. */
  add(key: string): void {
    this.#count += 1;
    this.#added.push(key);
    // Keys that come and go would let the list grow for ever if the order is never asked for.
    if (this.#added.length > 2 * this.#count + STALE_MAX) this.#merge();
  }

  deleted(): void {
    this.#count -= 1;
  }

  /** Those behind `after` that start so, in the order of their UTF-8 bytes. */
  from(prefix: string, after: string): string[] {
    const { length } = this.#added;
    if (length > ADDED_MIN && length ** 2 > this.#sorted.length) this.#merge();
    const keys: string[] = [];
    const first = after === "" ? prefix : after;
    for (let i = this.#firstFrom(first); this.#sorted[i]?.startsWith(prefix); i++) {
      if (this.#sorted[i] !== after) keys.push(this.#sorted[i] as string);
    }
    const isBehind = (key: string) => after === "" || compareKeys(key, after) > 0;
    const added = this.#added.filter((key) => key.startsWith(prefix) && isBehind(key));
    const all = added.length > 0 ? this.#inOrder([...keys, ...added]) : keys;
    return all.filter((key, i) => key !== all[i - 1] && this.#has(key));
  }

  #merge(): void {
    const keys = this.#inOrder([...this.#sorted, ...this.#added]);
    this.#sorted = keys.filter((key, i) => key !== keys[i - 1] && this.#has(key));
    this.#added = [];
    this.#looked = 0;
  }

  /** Sorting a sorted list with some more behind it takes little more than sorting those. */
  #inOrder(keys: string[]): string[] {
    return this.#isByteOrder() ? keys.sort(compareKeys) : keys.sort();
  }

  /** Keys that are in order without it stay in order with it, so it may be switched on at any time. */
  #isByteOrder(): boolean {
    for (; !this.#inByteOrder && this.#looked < this.#added.length; this.#looked++) {
      this.#inByteOrder = needsByteOrder(this.#added[this.#looked] as string);
    }
    return this.#inByteOrder;
  }

  #firstFrom(first: string): number {
    let low = 0;
    let high = this.#sorted.length;
    const isByteOrder = this.#isByteOrder() || needsByteOrder(first);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const key = this.#sorted[middle] as string;
      if (isByteOrder ? compareKeys(key, first) < 0 : key < first) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
