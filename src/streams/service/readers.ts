/** The readers that wait for streams to grow. */
export class WaitingReaders {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Streams have new rows. */
  grown(names: Iterable<string>): void {
    for (const name of names) for (const wake of this.#waiting.get(name) ?? []) wake();
  }

  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  wakeAll(): void {
    this.grown([...this.#waiting.keys()]);
  }

  /** Resolves when the stream has grown since the call, or when the signal says that nothing is to be waited for. */
  growth(name: string, signal: AbortSignal | undefined): { readonly promise: Promise<void>; stop(): void } {
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting);
    let stop = () => {};
    const promise = new Promise<void>((resolve) => {
      stop = () => {
        waiting.delete(stop);
        if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
        signal?.removeEventListener("abort", stop);
        resolve();
      };
    });
    waiting.add(stop);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    return { promise, stop: () => stop() };
  }
}
