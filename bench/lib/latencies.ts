const REQUESTS_FIRST = 2 ** 20;

/** When requests were answered and how long they took, for figures over time. What is kept is out of the garbage collector's way. */
export class Latencies {
  #endMs = new Float64Array(REQUESTS_FIRST);
  #tookMs = new Float64Array(REQUESTS_FIRST);
  #count = 0;

  add(askedMs: number, endMs: number): void {
    if (this.#count === this.#endMs.length) {
      this.#endMs = twice(this.#endMs);
      this.#tookMs = twice(this.#tookMs);
    }
    this.#endMs[this.#count] = endMs;
    this.#tookMs[this.#count] = endMs - askedMs;
    this.#count += 1;
  }

  async time<T>(ask: () => Promise<T>): Promise<T> {
    const askedMs = performance.now();
    const answer = await ask();
    this.add(askedMs, performance.now());
    return answer;
  }

  /** Those that were on the way at some moment between these. */
  valuesBetween(fromMs: number, toMs: number): number[] {
    const found: number[] = [];
    for (const [end, ms] of this.#all()) if (end >= fromMs && end - ms <= toMs) found.push(ms);
    return found;
  }

  /** When the first of those was answered that were asked after this moment. */
  firstAnswerAfter(ms: number): number {
    for (const [end, took] of this.#all()) if (end - took >= ms) return end;
    return ms;
  }

  between(fromMs: number, toMs: number): Sorted {
    return new Sorted(this.valuesBetween(fromMs, toMs));
  }

  /** Those that ended in each stretch of time. */
  windows(
    fromMs: number,
    toMs: number,
    widthMs: number,
  ): { readonly atMs: number; readonly ended: Sorted }[] {
    const count = Math.max(0, Math.floor((toMs - fromMs) / widthMs));
    const buckets = Array.from({ length: count }, (): number[] => []);
    for (const [end, ms] of this.#all()) buckets[Math.floor((end - fromMs) / widthMs)]?.push(ms);
    return buckets.map((own, i) => ({ atMs: fromMs + (i + 0.5) * widthMs, ended: new Sorted(own) }));
  }

  /** In the order of their answers. */
  *#all(): Iterable<readonly [endMs: number, tookMs: number]> {
    for (let i = 0; i < this.#count; i++) yield [this.#endMs[i] ?? 0, this.#tookMs[i] ?? 0];
  }
}

function twice(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}

export class Sorted {
  readonly #values: number[];

  constructor(values: readonly number[]) {
    this.#values = values.toSorted((a, b) => a - b);
  }

  get count(): number {
    return this.#values.length;
  }

  get max(): number {
    return this.#values.at(-1) ?? Number.NaN;
  }

  quantile(share: number): number {
    const { length } = this.#values;
    return this.#values[Math.min(length - 1, Math.floor(length * share))] ?? Number.NaN;
  }

  get mean(): number {
    return this.#values.reduce((sum, value) => sum + value, 0) / this.#values.length;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
