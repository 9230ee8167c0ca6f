import { HeadwaterError } from "../errors.js";
import type { TRACKED, TrackedList } from "../model/collections.js";
import { ItemStore } from "./tracked-items.js";
import { Live } from "./tracked-live.js";
import { give, take } from "./tracked-values.js";
import { find, Version } from "./tracked-version.js";

export class LiveList extends Live implements TrackedList<unknown> {
  declare readonly [TRACKED]: "list";
  readonly kind = "list";

  constructor(items: Iterable<unknown>) {
    super();
    for (const item of items) this.push(item);
  }

  protected override empty(): Version {
    return Version.root(this.kind, new ItemStore());
  }

  protected override reach(): ItemStore | null {
    return super.reach() as ItemStore | null;
  }

  get length(): number {
    return this.reach()?.size ?? this.version.size;
  }

  at(index: number): unknown {
    const i = this.#index(index);
    return i === null ? undefined : give(this.#raw(i));
  }

  set(index: number, value: unknown): void {
    this.refuseView();
    const i = this.#index(index);
    if (i === null) {
      throw new HeadwaterError(
        "HW-1105",
        `${this.where}.set(${String(index)}, …): there is no item ${String(index)} to replace, the list has ` +
          `${this.length}. Use \`push\` or \`unshift\` to add one.`,
      );
    }
    this.#put(i, this.#take(value, i));
  }

  push(...values: readonly unknown[]): number {
    const { length } = this;
    const own = values.map((value, i) => this.#take(value, length + i));
    this.refuseView();
    for (const [i, value] of own.entries()) this.#put(length + i, value);
    return this.length;
  }

  unshift(...values: readonly unknown[]): number {
    const own = values.map((value, i) => this.#take(value, i));
    this.refuseView();
    for (const value of own.reverse()) this.#put(-1, value);
    return this.length;
  }

  pop(): unknown {
    return this.#takeOut(this.length - 1);
  }

  shift(): unknown {
    return this.#takeOut(0);
  }

  slice(start = 0, end = this.length): unknown[] {
    const { length } = this;
    const items: unknown[] = [];
    for (let i = bounded(start, length); i < bounded(end, length); i++) items.push(give(this.#raw(i)));
    return items;
  }

  splice(start: number, deleteCount = this.length, ...values: readonly unknown[]): unknown[] {
    const from = bounded(start, this.length);
    const gone = Math.max(0, Math.min(Math.trunc(deleteCount) || 0, this.length - from));
    const own = values.map((value, i) => this.#take(value, from + i));
    this.refuseView();
    const items = this.slice(from, from + gone);
    const behind = this.length - from - gone;
    if (behind <= from) this.#moveTail(from + gone, own.length - gone);
    else this.#moveHead(from, own.length - gone);
    for (const [i, value] of own.entries()) this.#put(from + i, value);
    return items;
  }

  clear(): void {
    this.refuseView();
    while (this.length > 0) this.pop();
  }

  *[Symbol.iterator](): Generator<unknown, undefined> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  override plain(): unknown[] {
    return [...this];
  }

  /** Moves the items from here to the end, `by` places further behind. */
  #moveTail(from: number, by: number): void {
    const { length } = this;
    for (let i = length; i < length + by; i++) this.#put(i, undefined);
    if (by > 0) for (let i = length - 1; i >= from; i--) this.#put(i + by, this.#raw(i));
    if (by < 0) for (let i = from; i < length; i++) this.#put(i + by, this.#raw(i));
    for (let i = by; i < 0; i++) this.#takeOut(this.length - 1);
  }

  /** Moves the items before this place, `by` places further to the front. */
  #moveHead(to: number, by: number): void {
    for (let i = 0; i < by; i++) this.#put(-1, undefined);
    if (by > 0) for (let i = 0; i < to; i++) this.#put(i, this.#raw(i + by));
    if (by < 0) for (let i = to - 1; i >= 0; i--) this.#put(i - by, this.#raw(i));
    for (let i = by; i < 0; i++) this.#takeOut(0);
  }

  #take(value: unknown, index: number): unknown {
    return take(value, () => `${this.where}[${index}]`);
  }

  /** The index from the front, or null if there is no such item. */
  #index(index: number): number | null {
    const { length } = this;
    const whole = Math.trunc(index) || 0;
    const i = whole < 0 ? whole + length : whole;
    return i >= 0 && i < length ? i : null;
  }

  /** As it is kept. */
  #raw(index: number): unknown {
    const store = this.reach();
    if (store !== null) return store.get(store.first + index);
    return find(this.version, this.version.first + index)?.value;
  }

  #put(index: number, value: unknown): void {
    const open = this.open();
    const store = open.store as ItemStore;
    store.put(open, store.first + index, value);
  }

  #takeOut(index: number): unknown {
    this.refuseView();
    if (this.length === 0) return undefined;
    const open = this.open();
    const store = open.store as ItemStore;
    const value = store.get(store.first + index);
    store.remove(open, store.first + index);
    return give(value);
  }
}

/** An index as `slice` understands it: from the end if negative, never outside. */
function bounded(index: number, length: number): number {
  const whole = Math.trunc(index) || 0;
  return whole < 0 ? Math.max(0, whole + length) : Math.min(whole, length);
}
