/**
 * Many keys in order, without ever sorting all of them at once, which would hold up the thread: they are sorted in
 * runs of a few thousand, one run at a time, and the runs are merged as the keys are taken.
 */
export class SortedRuns {
  #unsorted: string[];
  readonly #runs: { readonly keys: readonly string[]; next: number }[] = [];
  readonly #runKeys: number;

  constructor(keys: string[], runKeys = 8192) {
    this.#unsorted = keys;
    this.#runKeys = runKeys;
  }

  /** Sorts one more run; false if there was nothing left to sort. */
  prepare(): boolean {
    if (this.#unsorted.length === 0) return false;
    const keys = this.#unsorted.slice(-this.#runKeys).sort();
    this.#unsorted.length -= keys.length;
    this.#runs.push({ keys, next: 0 });
    return true;
  }

  /** The smallest key that was not taken yet; all runs must be prepared. */
  take(): string | undefined {
    let least: string | undefined;
    let from = -1;
    for (let i = 0; i < this.#runs.length; i++) {
      const run = this.#runs[i];
      const key = run?.keys[run.next];
      if (key !== undefined && (least === undefined || key < least)) {
        least = key;
        from = i;
      }
    }
    const run = this.#runs[from];
    if (run !== undefined) run.next += 1;
    return least;
  }
}
