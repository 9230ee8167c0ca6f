import type { HeadwaterError } from "../errors.js";
import type { Journal, Write } from "./journal.js";
import { checkKey } from "./keys.js";
import { closed } from "./problems.js";
import { SortedMap } from "./sorted-map.js";

/** A journal that lasts as long as the process: for tests, and for programs that have nothing to keep. */
export class MemoryJournal implements Journal {
  readonly #table = new SortedMap<Uint8Array>();
  #waiting: ((error: HeadwaterError | null) => void)[] = [];
  #isClosed = false;

  append(writes: readonly Write[], done: (error: HeadwaterError | null) => void): void {
    if (this.#isClosed) {
      queueMicrotask(() => done(closed(MEMORY)));
      return;
    }
    for (const { key } of writes) checkKey(key);
    for (const { key, value } of writes) {
      if (value === null) this.#table.delete(key);
      else this.#table.set(key, value);
    }
    if (this.#waiting.push(done) === 1) queueMicrotask(() => this.#settle());
  }

  refusal(): null {
    return null;
  }

  get(key: string): Uint8Array | undefined {
    if (this.#isClosed) throw closed(MEMORY);
    checkKey(key);
    return this.#table.get(key);
  }

  *range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    if (this.#isClosed) throw closed(MEMORY);
    if (prefix !== "") checkKey(prefix);
    yield* this.#table.from(prefix, after);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#settle();
  }

  #settle(): void {
    const settled = this.#waiting;
    this.#waiting = [];
    for (const done of settled) done(null);
  }
}

const MEMORY = "in memory";
