/**
 * Durations in buckets whose bounds grow by an eighth of a power of two, from a microsecond to some hours: a percentile is right to about
 * 9 %, and a second's worth of events costs 1 kB however many there are.
 */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;

  add(ms: number): void {
    const at = Math.floor(PER_DOUBLING * Math.log2(Math.max(1, ms * 1000)));
    const bucket = Math.min(BUCKETS - 1, at);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** The duration, in milliseconds, that this share of the durations does not exceed; null if there are none. */
  quantile(share: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.max(1, Math.ceil(share * this.#count));
    for (let i = 0; i < BUCKETS; i++) {
      left -= this.#counts[i] ?? 0;
      if (left <= 0) return 2 ** ((i + 0.5) / PER_DOUBLING) / 1000;
    }
    return null;
  }
}

const PER_DOUBLING = 8;
const BUCKETS = 256;
