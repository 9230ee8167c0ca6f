import { HeadwaterError } from "../errors.js";
import type { TrackedKey } from "../model/collections.js";
import { isRegistered } from "./registered.js";
import { same } from "./same.js";
import { copy, copyKept, isSimple } from "./values.js";

/**
 * What tracked collections keep. A value is copied on its way in and then frozen, so it can be handed out again and
 * again without a copy, and code that tries to change it in place fails at once instead of changing nothing.
 */

/** A value with something in it that cannot be frozen: a Map, a Set, a Date, a typed array, an error. */
class Boxed {
  constructor(readonly value: unknown) {}
}

/**
 * A value that was not read since it came from another host, as the bytes of its entry: they come and go without
 * being made anew, and are not in the way of the garbage collector. Where they are takes less room than a view of them.
 */
export class Unread {
  #buffer: ArrayBufferLike | null;
  readonly #start: number;
  readonly #length: number;
  readonly #read: (entry: Uint8Array) => unknown;
  #kept: unknown;

  /** The bytes must not change any more. */
  constructor(entry: Uint8Array, read: (entry: Uint8Array) => unknown) {
    this.#buffer = entry.buffer;
    this.#start = entry.byteOffset;
    this.#length = entry.byteLength;
    this.#read = read;
  }

  /** Null once the value was read. */
  get entry(): Uint8Array | null {
    return this.#buffer === null ? null : new Uint8Array(this.#buffer, this.#start, this.#length);
  }

  /** As it is kept from now on. */
  kept(): unknown {
    const { entry } = this;
    if (entry !== null) this.#kept = own(this.#read(entry));
    this.#buffer = null;
    return this.#kept;
  }
}

/** A value on its way in. `name` is called only to refuse it. */
export function take(value: unknown, name: () => string): unknown {
  return isSimple(value) ? value : own(copy(value, name));
}

/** The same for a value that is not shared. */
export function own(value: unknown): unknown {
  return isFrozenNow(value) ? value : new Boxed(value);
}

/** A value on its way out. */
export function give(value: unknown): unknown {
  const kept = value instanceof Unread ? value.kept() : value;
  return kept instanceof Boxed ? copyKept(kept.value) : kept;
}

/** The same for a reader that uses it at once. */
export function peek(value: unknown): unknown {
  const kept = value instanceof Unread ? value.kept() : value;
  return kept instanceof Boxed ? kept.value : kept;
}

/** Are two values as they are kept the same? */
export function isSameKept(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || same(peek(a), peek(b));
}

function isFrozenNow(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isFreezable =
    prototype === Array.prototype ||
    prototype === Object.prototype ||
    (isRegistered(value.constructor) && !(value instanceof Error));
  if (!isFreezable) return false;
  for (const item of Object.values(value)) if (!isFrozenNow(item)) return false;
  Object.freeze(value);
  return true;
}

/** The key as it is kept, if it is one. */
export function checkKey(key: unknown, where: () => string): TrackedKey {
  switch (typeof key) {
    case "string":
    case "boolean":
    case "bigint":
      return key;
    case "number":
      return key === 0 ? 0 : key; // a Map takes -0 for 0
    default:
      throw new HeadwaterError(
        "HW-1103",
        `${where()} was given ${key === null ? "null" : `a value of the type ${typeof key}`} as a key. Keys of tracked ` +
          "maps and items of tracked sets are strings, numbers, booleans and bigints: make one string of several parts, " +
          "or keep the object as a value under a key.",
      );
  }
}
