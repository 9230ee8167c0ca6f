import { Queue } from "../protocol/index.js";

/** What is larger takes so long to read that it waits for its turn. */
export const LARGE_BYTES = 16 * 1024;

/** What is larger takes so long to write. */
export const LARGE_REPLY_BYTES = 64 * 1024;

type Task = () => void;

/**
 * Large requests are read, and large replies written, one per turn of the event loop, and callers take turns: a caller that sends
 * or asks for many of them waits for its own turn, and small requests go in between.
 */
export class ReadTurns {
  /** By caller, the one whose turn is next first. */
  readonly #waiting = new Map<string, Queue<Task>>();
  #isScheduled = false;

  wait(caller: string, task: Task): void {
    const tasks = this.#waiting.get(caller) ?? new Queue<Task>();
    this.#waiting.set(caller, tasks);
    tasks.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isScheduled = false;
    for (const [caller, tasks] of this.#waiting) {
      const task = tasks.shift();
      this.#waiting.delete(caller);
      if (tasks.length > 0) this.#waiting.set(caller, tasks); // behind the others
      this.#schedule();
      return task?.();
    }
  };
}
