import { readdirSync } from "node:fs";

/** Something that will happen, when the schedule says so. */
interface Pending {
  readonly happen: () => unknown;
}

interface Timer {
  readonly due: number;
  readonly every: number | null;
  readonly run: () => unknown;
}

const FILE = "data";
/** A file that cannot be read. */
export const LOST = "lost";

type Done = (error: Error | null, data?: string) => unknown;

/** Files and timers of a program, in the place of Node's: nothing happens by itself. */
export class Events {
  readonly #files: Pending[] = [];
  readonly #timers = new Map<number, Timer>();
  #now = 0;
  #next = 1;

  /** How many different things could happen next: any file, or the timer that is due first. */
  get size(): number {
    return this.#files.length + (this.#timers.size > 0 ? 1 : 0);
  }

  happen(which: number): unknown {
    const [file] = which < this.#files.length ? this.#files.splice(which, 1) : [];
    if (file !== undefined) return file.happen();
    const [id, timer] =
      [...this.#timers].sort(([a, one], [b, other]) => one.due - other.due || a - b)[0] ?? [];
    if (id === undefined || timer === undefined) return undefined;
    this.#now = Math.max(this.#now, timer.due);
    this.#timers.delete(id);
    if (timer.every !== null) this.#timers.set(id, { ...timer, due: this.#now + timer.every });
    return timer.run();
  }

  readonly fs = {
    readFile: (name: string, ...rest: unknown[]) => {
      const done = rest.at(-1) as Done;
      this.#files.push({ happen: () => (name === LOST ? done(new Error(LOST)) : done(null, FILE)) });
    },
    readFileSync: () => FILE,
    readdirSync: (folder: string) => readdirSync(folder),
    promises: {
      readFile: (name: string) =>
        new Promise<string>((resolve, reject) => {
          this.#files.push({ happen: () => (name === LOST ? reject(new Error(LOST)) : resolve(FILE)) });
        }),
    },
  };

  readonly globals = {
    setTimeout: (run: (...args: unknown[]) => unknown, ms = 1, ...args: unknown[]) =>
      this.#start(() => run(...args), Math.max(1, ms), null),
    setInterval: (run: (...args: unknown[]) => unknown, ms = 1, ...args: unknown[]) =>
      this.#start(() => run(...args), Math.max(1, ms), Math.max(1, ms)),
    setImmediate: (run: (...args: unknown[]) => unknown, ...args: unknown[]) =>
      this.#start(() => run(...args), 0, null),
    clearTimeout: (timer: unknown) => this.#stop(timer),
    clearInterval: (timer: unknown) => this.#stop(timer),
    clearImmediate: (timer: unknown) => this.#stop(timer),
  };

  #start(run: () => unknown, ms: number, every: number | null) {
    const id = this.#next++;
    this.#timers.set(id, { due: this.#now + ms, every, run });
    const timer = {
      id,
      ref: () => timer,
      unref: () => timer,
      hasRef: () => true,
      [Symbol.toPrimitive]: () => id,
    };
    return timer;
  }

  #stop(timer: unknown): void {
    this.#timers.delete(Number(timer));
  }
}
