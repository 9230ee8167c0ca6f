import { bytesOf } from "../observe/index.js";

/** The last things that take no more than so many bytes together. */
export class KeptFacts<T> {
  readonly items: T[] = [];
  readonly #sizes: number[] = [];
  #bytes = 0;

  constructor(readonly bytesMax: number) {}

  add(item: T): void {
    const size = bytesOf(item);
    this.items.push(item);
    this.#sizes.push(size);
    this.#bytes += size;
    if (this.#bytes > 2 * this.bytesMax) this.#cut();
  }

  /** Cuts only now and then: shifting an array with each fact would cost more than the fact. */
  #cut(): void {
    let count = 0;
    for (; this.#bytes > this.bytesMax; count++) this.#bytes -= this.#sizes[count] ?? 0;
    this.items.splice(0, count);
    this.#sizes.splice(0, count);
  }
}
