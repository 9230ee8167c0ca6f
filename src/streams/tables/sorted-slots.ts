/** The order of two rows by their slots; 0 only for rows that are equal in every column. */
export type Compare = (a: number, b: number) => number;

const CHUNK_MAX = 512;

/**
 * The slots of a partition in the order of their rows. Chunks of a bounded length make an insertion cheap also among millions; a
 * small partition has one.
 */
export class SortedSlots {
  readonly #chunks: number[][] = [[]];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get last(): number {
    return this.#chunks.at(-1)?.at(-1) ?? -1;
  }

  /** Inserts a slot, unless one with an equal row is there, which is returned; otherwise -1. */
  put(slot: number, compare: Compare): number {
    const chunkAt = this.#chunkOf(slot, compare);
    const chunk = this.#chunks[chunkAt] as number[];
    const at = placeIn(chunk, slot, compare);
    const there = chunk[at];
    if (there !== undefined && compare(there, slot) === 0) return there;
    if (at === chunk.length) chunk.push(slot);
    else chunk.splice(at, 0, slot);
    this.#length++;
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(chunkAt + 1, 0, chunk.splice(CHUNK_MAX / 2));
    return -1;
  }

  /** Puts a slot behind all others, whose rows stand before its own. */
  append(slot: number): void {
    const chunk = this.#chunks.at(-1) as number[];
    chunk.push(slot);
    this.#length++;
    if (chunk.length > CHUNK_MAX) this.#chunks.push(chunk.splice(CHUNK_MAX / 2));
  }

  /** The slots before and behind a row that is not there, or -1. */
  neighbours(slot: number, compare: Compare): readonly [before: number, behind: number] {
    const chunkAt = this.#chunkOf(slot, compare);
    const chunk = this.#chunks[chunkAt] as number[];
    const at = placeIn(chunk, slot, compare);
    return [
      (at > 0 ? chunk[at - 1] : this.#chunks[chunkAt - 1]?.at(-1)) ?? -1,
      (at < chunk.length ? chunk[at] : this.#chunks[chunkAt + 1]?.[0]) ?? -1,
    ];
  }

  /** Takes out a slot that is there. */
  remove(slot: number, compare: Compare): void {
    const chunkAt = this.#chunkOf(slot, compare);
    const chunk = this.#chunks[chunkAt] as number[];
    chunk.splice(placeIn(chunk, slot, compare), 1);
    this.#length--;
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(chunkAt, 1);
  }

  removeLast(): number {
    const chunk = this.#chunks.at(-1) as number[];
    const slot = chunk.pop() ?? -1;
    this.#length--;
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.pop();
    return slot;
  }

  get first(): number {
    return this.#chunks[0]?.[0] ?? -1;
  }

  removeFirst(): number {
    const chunk = this.#chunks[0] as number[];
    const slot = chunk.shift() ?? -1;
    this.#length--;
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.shift();
    return slot;
  }

  /** The last slot of which something is true that is true of all before it, or -1. */
  lastWhere(isTrue: (slot: number) => boolean): number {
    let at = this.#chunks.length - 1;
    while (at > 0 && !isTrue((this.#chunks[at] as number[])[0] as number)) at--;
    const chunk = this.#chunks[at] as number[];
    let [low, high] = [0, chunk.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isTrue(chunk[middle] as number)) low = middle + 1;
      else high = middle;
    }
    return chunk[low - 1] ?? -1;
  }

  /** Goes through the slots in order until `visit` says that it has enough. */
  each(visit: (slot: number) => boolean): void {
    for (const chunk of this.#chunks) for (const slot of chunk) if (!visit(slot)) return;
  }

  /** The chunk that a row belongs to: the last one that does not begin behind it. */
  #chunkOf(slot: number, compare: Compare): number {
    let [low, high] = [0, this.#chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (compare((this.#chunks[middle] as number[])[0] as number, slot) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The first place whose row does not stand before the given one. */
function placeIn(chunk: readonly number[], slot: number, compare: Compare): number {
  let [low, high] = [0, chunk.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(chunk[middle] as number, slot) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
