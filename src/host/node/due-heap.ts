/** What goes off some time; the order of keys is that of going off. */
export interface Due {
  readonly key: string;
  /** Where it is in the heap; -1 if it is not. */
  at: number;
}

/** A binary heap by key from which anything can be taken. */
export class DueHeap<T extends Due> {
  #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#items.push(item);
    this.#up(item, this.#items.length - 1);
  }

  remove(item: T): void {
    const { at } = item;
    item.at = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#up(last, at);
    this.#down(last, last.at);
  }

  /** Takes out all but so many, the last ones, and returns them. The first `count` stay. */
  cut(count: number): T[] {
    const sorted = this.#items.sort((a, b) => (a.key < b.key ? -1 : 1)); // which is a heap, too
    const rest = sorted.splice(count);
    sorted.forEach((item, at) => {
      item.at = at;
    });
    for (const item of rest) item.at = -1;
    return rest;
  }

  clear(): void {
    this.#items = [];
  }

  *[Symbol.iterator](): Iterator<T> {
    yield* this.#items;
  }

  #up(item: T, from: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above] as T;
      if (parent.key < item.key) break;
      this.#put(parent, at);
      at = above;
    }
    this.#put(item, at);
  }

  #down(item: T, from: number): void {
    let at = from;
    for (let below = 2 * at + 1; below < this.#items.length; below = 2 * at + 1) {
      const left = this.#items[below] as T;
      const right = this.#items[below + 1];
      const child = right !== undefined && right.key < left.key ? right : left;
      if (item.key < child.key) break;
      const from = child.at;
      this.#put(child, at);
      at = from;
    }
    this.#put(item, at);
  }

  #put(item: T, at: number): void {
    this.#items[at] = item;
    item.at = at;
  }
}
