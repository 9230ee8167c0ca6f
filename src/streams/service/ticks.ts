const TICK_MS = 1000;
const TICK_MS_MAX = 60_000;

/** Ticks move the watermarks of idle streams and drop what is too old. A graph that is quiet gets fewer and fewer. */
export class Ticks {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #ms = TICK_MS;
  #isStopped = false;

  constructor(readonly tick: () => Promise<void>) {}

  /** Something was pushed. */
  wake(): void {
    this.#ms = TICK_MS;
  }

  start(): void {
    this.#isStopped = false;
    this.#next();
  }

  #next(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#isStopped) return;
      this.#ms = Math.min(2 * this.#ms, TICK_MS_MAX);
      this.tick()
        .catch(() => {}) // the next tick does what this one did not
        .finally(() => {
          if (!this.#isStopped) this.#next();
        });
    }, this.#ms).unref();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
