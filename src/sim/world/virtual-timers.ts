/** What is to happen at a moment of virtual time. */
export class VirtualTimers {
  readonly #due = new Map<() => void, number>();
  /** None is due before that. */
  #next = Number.POSITIVE_INFINITY;

  set(time: number, task: () => void): void {
    this.#due.set(task, time);
    this.#next = Math.min(this.#next, time);
  }

  delete(task: () => void): void {
    this.#due.delete(task);
  }

  clear(): void {
    this.#due.clear();
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
    for (const task of taken) this.#due.delete(task);
    return taken;
  }
}
