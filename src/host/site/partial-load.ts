import type { Write } from "../../journal/journal.js";
import { MemoryJournal } from "../../journal/memory.js";

/** A context that comes from the journal, in parts: what has come of it. */
export class PartialLoad {
  readonly journal = new MemoryJournal();
  /** What has come of a value whose rest has not. */
  #parts: Uint8Array[] = [];

  /** `isCut`: the last of the values goes on in the next part. */
  add(writes: readonly Write[], isCut: boolean): void {
    const [first, ...others] = writes;
    if (first === undefined) return;
    if (first.value !== null && (isCut || this.#parts.length > 0)) {
      this.#parts.push(first.value);
      if (isCut) return;
      const value = Buffer.concat(this.#parts);
      this.#parts = [];
      return this.journal.append([{ key: first.key, value }, ...others], () => {});
    }
    this.journal.append(writes, () => {});
  }
}
