/**
 * Is a value no more than what a copy of it would have? Arrays are copied as their items, objects as their fields, Maps
 * and Sets as what is in them. What else an object has would be lost without a word, so it is refused.
 */

/** Why something is not plain data. */
export class NotPlainData extends Error {
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** Refuses an object that has more than the fields with these names, or a getter among them if it is to be kept. */
export function checkFields(value: object, names: readonly string[], isToKeep: boolean): void {
  if (isMoreThanFields(value, names.length)) throw new NotPlainData(moreThan(value, names));
  if (isToKeep) checkNoGetters(value, names);
}

/** Looking for symbols is most of the cost; nothing else tells that there are some. */
export function isMoreThanFields(value: object, count: number): boolean {
  return Object.getOwnPropertyNames(value).length !== count || hasSymbols(value);
}

/**
 * A getter in a field works until the event ends, and would be what it gave last from then on. (What is only passed is
 * what was read at once, getters too: looking at each field would take as long as copying it.)
 */
function checkNoGetters(value: object, names: readonly string[]): void {
  for (const name of names) {
    const found = Object.getOwnPropertyDescriptor(value, name);
    if (found?.get !== undefined || found?.set !== undefined) {
      const remedy = "keep what it gives, or register a class that has the getter";
      throw new NotPlainData(
        `${nounFor(value)} with a getter or setter, ${JSON.stringify(name)} (${remedy})`,
      );
    }
  }
}

/** Refuses a Map, Set, Date or ArrayBuffer with fields of its own. */
export function checkNoFields(value: object): void {
  if (hasFields(value)) throw new NotPlainData(moreThan(value, []));
}

export function hasFields(value: object): boolean {
  return Reflect.ownKeys(value).length > 0;
}

/** Refuses an array of which it is cheap to see that it is more than its items. */
export function checkArray(items: readonly unknown[]): void {
  if (isMoreThanItems(items)) throw new NotPlainData(moreThan(items, []));
}

export function isMoreThanItems(items: readonly unknown[]): boolean {
  return (items as { index?: unknown }).index !== undefined || hasSymbols(items);
}

/** The same for any array, at a cost for each item. */
export function checkEveryName(items: readonly unknown[]): void {
  if (hasOtherNames(items) || hasSymbols(items)) throw new NotPlainData(moreThan(items, []));
}

/** Names that are not those of items come last. An array with holes has fewer names than its length. */
function hasOtherNames(items: readonly unknown[]): boolean {
  const { length } = items;
  if (length === 0) return Object.keys(items).length > 0;
  const names = Object.keys(items);
  return names.length > length || (names.length > 0 && !isIndex(names[names.length - 1] as string, length));
}

function isIndex(name: string, length: number): boolean {
  const index = Number(name);
  return index >= 0 && index < length && String(index) === name;
}

function hasSymbols(value: object): boolean {
  return Object.getOwnPropertySymbols(value).length > 0;
}

/** In words, on the way to an error. `names` are those of the fields that a copy would have. */
function moreThan(value: object, names: readonly string[]): string {
  const isMatch = Array.isArray(value) && ["index", "input", "groups"].every((name) => name in value);
  if (isMatch) return "the result of a match, which is more than its items (keep `[...match]`)";
  const known = new Set<PropertyKey>(Array.isArray(value) ? ["length"] : names);
  const isItem = (key: PropertyKey) =>
    Array.isArray(value) && typeof key === "string" && isIndex(key, value.length);
  const other = Reflect.ownKeys(value).find((key) => !known.has(key) && !isItem(key));
  const noun = nounFor(value);
  if (typeof other === "symbol")
    return `${noun} with a field that is named by a symbol, ${String(other)} (name it by a text)`;
  const shown = JSON.stringify(other);
  if (noun !== "an object" && !noun.startsWith("an instance"))
    return `${noun} with a field of its own, ${shown}, that would be lost (keep them side by side in an object)`;
  return `${noun} with a hidden field, ${shown}, that would be lost (it is not enumerable)`;
}

function nounFor(value: object): string {
  if (Array.isArray(value)) return "an array";
  for (const type of [Map, Set, Date, ArrayBuffer])
    if (value instanceof type) return `${/^[AEIOU]/.test(type.name) ? "an" : "a"} ${type.name}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return "an object";
  return `an instance of ${value.constructor.name}`;
}
