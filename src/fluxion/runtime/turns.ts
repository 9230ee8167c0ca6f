/**
 * One stage at a time in a thread, asynchronous ones included. The next one begins when the event loop has gone round:
 * by then the report of the one before is on its way, and the question whether this thread is blocked was answered.
 */
export class StageTurns {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];
  readonly #passOn = () => {
    this.#isTaken = false;
    this.#waiting.shift()?.();
  };
  /** What ends in a promise is sent in the next round of the event loop. */
  readonly #passOnLater = () => {
    setImmediate(this.#passOn);
  };

  /** Runs it at once if it can, and then also gives its result at once. */
  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (this.#isTaken) return this.#wait(work);
    this.#isTaken = true;
    let isOver = true;
    try {
      const result = work();
      if (!(result instanceof Promise)) return result;
      isOver = false;
      return result.finally(() => setImmediate(this.#passOnLater));
    } finally {
      if (isOver) setImmediate(this.#passOn);
    }
  }

  #wait<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        this.#isTaken = true;
        new Promise<T>((ended) => ended(work()))
          .finally(() => setImmediate(this.#passOnLater))
          .then(resolve, reject);
      });
    });
  }
}
