import { invariant } from "../errors.js";
import { isSameKept } from "./tracked-values.js";
import type { FirstSteps, Found, Store, UndoStep, Version } from "./tracked-version.js";

/** How much room in front is worth keeping. */
const ROOM_MIN = 16;

/**
 * The content of a tracked list: an array with room at both ends. An item has a position, which it keeps when others
 * come and go before it: the first one of a list may be at any whole number.
 */
export class ItemStore implements Store {
  #items: unknown[] = [];
  /** Where the first item is in the array. */
  #start = 0;
  first = 0;

  get size(): number {
    return this.#items.length - this.#start;
  }

  find(position: unknown): Found | undefined {
    const at = position as number;
    return this.#has(at) ? { at, value: this.get(at) } : undefined;
  }

  get(position: number): unknown {
    return this.#items[position - this.first + this.#start];
  }

  *all(): Iterable<Found> {
    for (let at = this.first; at < this.first + this.size; at++) yield { at, value: this.get(at) };
  }

  /** Replaces an item, or adds one at an end, in a version that is open and the root. */
  put(open: Version, at: number, value: unknown): void {
    const had = this.#has(at);
    open.base?.steps.push({ kind: had ? "set" : "add", at, value: had ? this.get(at) : undefined });
    this.#put(at, value);
  }

  /** Takes away the first item or the last one. */
  remove(open: Version, at: number): void {
    open.base?.steps.push({ kind: "remove", at, value: this.get(at) });
    this.#remove(at);
  }

  load(position: number, value: unknown): void {
    if (this.size === 0) this.first = position;
    this.#put(position, value);
  }

  undo({ kind, at, value }: UndoStep): UndoStep {
    const position = at as number;
    const before = this.get(position);
    if (kind === "add") {
      this.#remove(position);
      return { kind: "remove", at, value: before };
    }
    if (kind === "remove" && this.size === 0) this.first = position;
    this.#put(position, value);
    return kind === "set" ? { kind, at, value: before } : { kind: "add", at, value: undefined };
  }

  /** Items may have gone at one end and come at the other. Looked at only if most items were touched anyway. */
  isAsBefore(before: FirstSteps, size: number, first: number): boolean {
    if (size !== this.size || size > before.size) return false;
    for (let i = 0; i < size; i++) {
      const then = before.get(first + i);
      if (then?.kind === "add") return false;
      if (!isSameKept(this.get(this.first + i), then === undefined ? this.get(first + i) : then.value))
        return false;
    }
    return true;
  }

  #has(position: number): boolean {
    return position >= this.first && position < this.first + this.size;
  }

  #put(position: number, value: unknown): void {
    if (position === this.first + this.size) {
      this.#items.push(value);
    } else if (position === this.first - 1) {
      if (this.#start === 0) this.#makeRoom();
      this.#start -= 1;
      this.first -= 1;
      this.#items[this.#start] = value;
    } else {
      invariant(this.#has(position), "a tracked list has no gaps");
      this.#items[position - this.first + this.#start] = value;
    }
  }

  #remove(position: number): void {
    invariant(this.#has(position), "only what is in a tracked list is taken out");
    if (position === this.first + this.size - 1) {
      this.#items.pop();
      return;
    }
    invariant(position === this.first, "items are taken out at the ends");
    this.#items[this.#start] = undefined;
    this.#start += 1;
    this.first += 1;
    if (this.#start > ROOM_MIN && this.#start > this.#items.length / 2) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Each time for as many items as make up for the moving. */
  #makeRoom(): void {
    const room = Math.max(ROOM_MIN, this.#items.length >> 1);
    this.#items = new Array<unknown>(room).fill(undefined).concat(this.#items);
    this.#start = room;
  }
}
