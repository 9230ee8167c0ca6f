/** What is to happen at a moment of virtual time. */
export class VirtualTimers {
  readonly #due = new Map<() => void, number>();
  /** What callers outside wait for: a crash of the program does not end that. */
  readonly #callers = new WeakSet<() => void>();
  /** None is due before that. */
  #next = Number.POSITIVE_INFINITY;

  set(time: number, task: () => void, by: "program" | "caller" = "program"): void {
    if (by === "caller") this.#callers.add(task);
    this.#due.set(task, time);
    this.#next = Math.min(this.#next, time);
  }

  delete(task: () => void): void {
    this.#due.delete(task);
  }

  isOfCaller(task: () => void): boolean {
    return this.#callers.has(task);
  }

  /** The program has crashed. */
  clear(): void {
    for (const task of this.#due.keys()) if (!this.#callers.has(task)) this.#due.delete(task);
  }

  /** When the next one is due; infinity if there is none. */
  next(): number {
    return Math.min(...this.#due.values());
  }

  /** Takes out what is due, in the order in which it was set. */
  takeDue(now: number): (() => void)[] {
    if (now < this.#next) return [];
    this.#next = Number.POSITIVE_INFINITY;
    const taken: (() => void)[] = [];
    for (const [task, due] of this.#due) {
      if (due <= now) taken.push(task);
      else this.#next = Math.min(this.#next, due);
    }
    for (const task of taken) this.delete(task);
    return taken;
  }
}
