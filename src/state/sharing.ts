/**
 * Is any object reachable on two ways, or frozen? States do not keep sharing and freezing, so an instance with such
 * objects in its fields would behave otherwise in the next event than one made from the state. (What a tracked
 * collection hands out is frozen.)
 */
export function hasSharing(values: Iterable<unknown>): boolean {
  const seen = new Seen();
  for (const value of values) if (isSeenTwice(value, seen)) return true;
  return false;
}

function isSeenTwice(value: unknown, seen: Seen): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!seen.add(value) || Object.isFrozen(value)) return true;
  if (ArrayBuffer.isView(value)) return isSeenTwice(value.buffer, seen);
  if (value instanceof Map) {
    for (const [key, item] of value) if (isSeenTwice(key, seen) || isSeenTwice(item, seen)) return true;
    return false;
  }
  const items: Iterable<unknown> =
    Array.isArray(value) || value instanceof Set ? value : Object.values(value);
  for (const item of items) if (isSeenTwice(item, seen)) return true;
  return false;
}

/** A set that is most often of one object, and then not worth a Set. */
class Seen {
  #first: object | null = null;
  #all: Set<object> | null = null;

  /** False if it is there already. */
  add(value: object): boolean {
    if (this.#first === null) {
      this.#first = value;
      return true;
    }
    this.#all ??= new Set([this.#first]);
    const { size } = this.#all;
    return this.#all.add(value).size > size;
  }
}
