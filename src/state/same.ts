import { sameBytes } from "./bytes.js";
import { hasFields, isMoreThanFields, isMoreThanItems } from "./whole.js";

type Fields = Record<string, unknown>;

/** Do two copies hold the same data? */
export function same(a: unknown, b: unknown): boolean {
  return isSame(a, b, false);
}

/** Does a live value hold the same data as a copy, and nothing more? Never true for something that cannot be copied. */
export function isStillSame(live: unknown, kept: unknown): boolean {
  return isSame(live, kept, true);
}

/** `isLive`: the first may have what copies do not have. */
function isSame(live: unknown, kept: unknown, isLive: boolean): boolean {
  if (typeof live !== "object" || live === null) return Object.is(live, kept);
  if (live === kept) return true;
  if (typeof kept !== "object" || kept === null) return false;
  const prototype: unknown = Object.getPrototypeOf(live) ?? Object.prototype;
  if (prototype !== Object.getPrototypeOf(kept)) return false;
  if (prototype === Object.prototype) return sameFields(live as Fields, kept as Fields, isLive);
  if (Array.isArray(live)) return sameArrays(live, kept as unknown[], isLive);
  if (live instanceof Map) return sameMaps(live, kept as typeof live, isLive);
  if (live instanceof Set) return sameSets(live, kept as typeof live, isLive);
  if (live instanceof Date)
    return Object.is(live.getTime(), (kept as Date).getTime()) && !(isLive && hasFields(live));
  if (live instanceof ArrayBuffer)
    return sameBytes(live, kept as typeof live) && !(isLive && hasFields(live));
  if (ArrayBuffer.isView(live)) return sameBytes(live, kept as typeof live);
  if (!(live instanceof Error)) return sameFields(live as Fields, kept as Fields, isLive);
  return (
    sameErrorText(live, kept as Error, isLive) &&
    sameNamed(live as unknown as Fields, Object.keys(live), kept as Fields, isLive)
  );
}

function sameArrays(live: unknown[], kept: unknown[], isLive: boolean): boolean {
  if (live.length !== kept.length) return false;
  for (let i = 0; i < live.length; i++) {
    const item = live[i];
    const other = kept[i];
    if ((item !== other || item === 0) && !isSame(item, other, isLive)) return false;
  }
  return !isLive || !isMoreThanItems(live);
}

function sameErrorText(live: Error, kept: Error, isLive: boolean): boolean {
  return live.message === kept.message && live.name === kept.name && isSame(live.cause, kept.cause, isLive);
}

function sameMaps(
  live: ReadonlyMap<unknown, unknown>,
  kept: ReadonlyMap<unknown, unknown>,
  isLive: boolean,
): boolean {
  if (live.size !== kept.size) return false;
  const [keys, items] = [kept.keys(), kept.values()];
  for (const [key, item] of live)
    if (!isSame(key, keys.next().value, isLive) || !isSame(item, items.next().value, isLive)) return false;
  return !(isLive && hasFields(live));
}

function sameSets(live: ReadonlySet<unknown>, kept: ReadonlySet<unknown>, isLive: boolean): boolean {
  if (live.size !== kept.size) return false;
  const others = kept.values();
  for (const item of live) if (!isSame(item, others.next().value, isLive)) return false;
  return !(isLive && hasFields(live));
}

function sameFields(live: Fields, kept: Fields, isLive: boolean): boolean {
  const names = Object.keys(live);
  return sameNamed(live, names, kept, isLive) && !(isLive && isMoreThanFields(live, names.length));
}

function sameNamed(live: Fields, names: readonly string[], kept: Fields, isLive: boolean): boolean {
  const others = Object.keys(kept);
  if (names.length !== others.length) return false;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (name !== others[i]) return false;
    const item = live[name];
    const other = kept[name];
    if ((item !== other || item === 0) && !isSame(item, other, isLive)) return false;
  }
  return true;
}
