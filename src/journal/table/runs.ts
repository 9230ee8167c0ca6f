interface Run {
  readonly keys: readonly string[];
  next: number;
  /** `keys[next]`. */
  head: string;
}

/**
 * Many keys in order, without ever sorting all of them at once, which would hold up the thread: they are sorted in
 * runs of a few thousand, one run at a time, and the runs are merged as the keys are taken.
 */
export class SortedRuns {
  #unsorted: string[];
  /** Those with keys left, in the order of their heads. */
  readonly #runs: Run[] = [];
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
    this.#runs.unshift({ keys, next: 0, head: keys[0] as string });
    this.#placeFirst();
    return true;
  }

  /** The smallest key that was not taken yet; all runs must be prepared. */
  take(): string | undefined {
    const run = this.#runs[0];
    if (run === undefined) return undefined;
    const least = run.head;
    run.next += 1;
    const next = run.keys[run.next];
    if (next === undefined) {
      this.#runs.shift();
    } else {
      run.head = next;
      this.#placeFirst();
    }
    return least;
  }

  /** Moves the first run to where it belongs among the others, which are in order. */
  #placeFirst(): void {
    const runs = this.#runs;
    const run = runs[0] as Run;
    let low = 1;
    let high = runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((runs[middle] as Run).head < run.head) low = middle + 1;
      else high = middle;
    }
    if (low > 1) runs.copyWithin(0, 1, low);
    runs[low - 1] = run;
  }
}
