/** When requests were answered and how long they took, for figures over time. */
export class Latencies {
  readonly #endMs: number[] = [];
  readonly #tookMs: number[] = [];

  add(askedMs: number, endMs: number): void {
    this.#endMs.push(endMs);
    this.#tookMs.push(endMs - askedMs);
  }

  async time<T>(ask: () => Promise<T>): Promise<T> {
    const askedMs = performance.now();
    const answer = await ask();
    this.add(askedMs, performance.now());
    return answer;
  }

  /** Those that were on the way at some moment between these. */
  valuesBetween(fromMs: number, toMs: number): number[] {
    return this.#tookMs.filter((ms, i) => {
      const end = this.#endMs[i] ?? 0;
      return end >= fromMs && end - ms <= toMs;
    });
  }

  /** When the first of those was answered that were asked after this moment. */
  firstAnswerAfter(ms: number): number {
    const found = this.#endMs.findIndex((end, i) => end - (this.#tookMs[i] ?? 0) >= ms);
    return this.#endMs[found] ?? ms;
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
    for (const [i, end] of this.#endMs.entries()) {
      buckets[Math.floor((end - fromMs) / widthMs)]?.push(this.#tookMs[i] ?? 0);
    }
    return buckets.map((own, i) => ({ atMs: fromMs + (i + 0.5) * widthMs, ended: new Sorted(own) }));
  }
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
