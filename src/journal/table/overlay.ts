import { SortedMap } from "../sorted-map.js";

/** Null stands for a deleted key. */
type Value = Uint8Array | null;

export interface OverlayEntry {
  value: Value;
  /** There is a newer one in the layer above. */
  isOutdated: boolean;
}

/**
 * What was appended and is not in the main table yet: the newest value of each key. Commits go on while an earlier
 * part is carried over to the main table, so there are two layers: the frozen one, which is being carried over and
 * does not change, and the one above it, which takes new writes.
 */
export class Overlay {
  #recent = new SortedMap<OverlayEntry>();
  #frozen: SortedMap<OverlayEntry> | null = null;
  #recentBytes = 0;
  #frozenBytes = 0;

  /** How many keys, and about how many bytes, are held of what was written since the last freeze. */
  get recentKeys(): number {
    return this.#recent.size;
  }

  get recentBytes(): number {
    return this.#recentBytes;
  }

  get frozenBytes(): number {
    return this.#frozenBytes;
  }

  set(key: string, value: Value): void {
    const entry = this.#recent.get(key);
    if (entry !== undefined) {
      this.#recentBytes -= entry.value?.byteLength ?? 0;
      entry.value = value;
    } else {
      this.#recentBytes += key.length;
      const below = this.#frozen?.get(key);
      if (below !== undefined) below.isOutdated = true;
      this.#recent.set(key, { value, isOutdated: false });
    }
    this.#recentBytes += value?.byteLength ?? 0;
  }

  /** Undefined if the main table has to be asked. */
  get(key: string): Value | undefined {
    return (this.#recent.get(key) ?? this.#frozen?.get(key))?.value;
  }

  /** All keys behind `after` that start so, in order, deleted ones included. */
  from(prefix: string, after: string): [key: string, value: Value][] {
    const frozen = this.#frozen?.from(prefix, after).filter(([, { isOutdated }]) => !isOutdated) ?? [];
    let entries = this.#recent.from(prefix, after);
    if (frozen.length > 0) {
      const both = new SortedMap<OverlayEntry>();
      for (const [key, entry] of [...frozen, ...entries]) both.set(key, entry);
      entries = both.from(prefix);
    }
    return entries.map(([key, { value }]) => [key, value]);
  }

  /** What was written until now becomes a layer of its own, which changes no more. */
  freeze(): SortedMap<OverlayEntry> {
    this.#frozen = this.#recent;
    this.#recent = new SortedMap();
    this.#frozenBytes = this.#recentBytes;
    this.#recentBytes = 0;
    return this.#frozen;
  }

  /** The main table has the frozen layer now. */
  drop(): void {
    this.#frozen = null;
    this.#frozenBytes = 0;
  }
}
