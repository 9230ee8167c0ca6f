import { Table } from "./table.js";

/** Null stands for a deleted key. */
type Value = Uint8Array | null;

/**
 * What was appended and is not in the main table yet: the newest value of each key. Commits go on while an earlier
 * part is carried over to the main table, so there are two layers: the frozen one, which is being carried over and
 * does not change, and the one above it, which takes new writes.
 */
export class Overlay {
  #recent = new Table<Value>();
  #frozen: Table<Value> | null = null;
  #recentBytes = 0;

  /** How many keys, and about how many bytes, were written since the last freeze. */
  get recentKeys(): number {
    return this.#recent.size;
  }

  get recentBytes(): number {
    return this.#recentBytes;
  }

  set(key: string, value: Value): void {
    this.#recent.set(key, value);
    this.#recentBytes += key.length + (value === null ? 0 : value.byteLength);
  }

  /** Whether a key was written since the last freeze. */
  hasRecent(key: string): boolean {
    return this.#recent.get(key) !== undefined;
  }

  /** Undefined if the main table has to be asked. */
  get(key: string): Value | undefined {
    const recent = this.#recent.get(key);
    return recent === undefined ? this.#frozen?.get(key) : recent;
  }

  /** All keys that start so, in order, deleted ones included. */
  from(prefix: string): [key: string, value: Value][] {
    const recent = this.#recent.from(prefix);
    if (this.#frozen === null) return recent;
    const frozen = this.#frozen.from(prefix).filter(([key]) => this.#recent.get(key) === undefined);
    if (frozen.length === 0) return recent;
    const both = new Table<Value>();
    for (const [key, value] of [...frozen, ...recent]) both.set(key, value);
    return both.from(prefix);
  }

  /** What was written until now becomes a layer of its own, which changes no more. */
  freeze(): Table<Value> {
    this.#frozen = this.#recent;
    this.#recent = new Table();
    this.#recentBytes = 0;
    return this.#frozen;
  }

  /** The main table has the frozen layer now. */
  drop(): void {
    this.#frozen = null;
  }
}
