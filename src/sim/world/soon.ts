/** What a program wants done soon, or when all its code has come to rest. */
export class Soon {
  readonly #soon: (() => void)[] = [];
  #atRest: (() => void)[] = [];

  add(task: () => void): void {
    this.#soon.push(task);
  }

  addAtRest(task: () => void): void {
    this.#atRest.push(task);
  }

  /** Does anybody wait until all code has come to rest? */
  get isAwaitingRest(): boolean {
    return this.#atRest.length > 0;
  }

  clear(): void {
    this.#soon.length = 0;
    this.#atRest.length = 0;
  }

  /** Does what was to be done soon. Says whether there was anything. */
  catchUp(broken: (error: unknown) => void): boolean {
    if (this.#soon.length === 0) return false;
    try {
      for (let task = this.#soon.shift(); task !== undefined; task = this.#soon.shift()) task();
    } catch (error) {
      broken(error);
    }
    return true;
  }

  /** Lets all code come to rest, and goes on then. Says whether anybody had waited for that. */
  async comeToRest(): Promise<boolean> {
    await new Promise((resolve) => process.nextTick(resolve));
    const due = this.#atRest;
    this.#atRest = [];
    for (const task of due) task();
    return due.length > 0;
  }
}

/** Says yes, but no to one of so many. */
export function exceptEvery(count: number): () => boolean {
  let asked = 0;
  return () => asked++ % count !== 0;
}
