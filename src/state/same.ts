import { sameBytes } from "./bytes.js";

/** Do a live value and a copy hold the same data? Never true for something that cannot be copied. */
export function same(live: unknown, kept: unknown): boolean {
  if (typeof live !== "object" || live === null) return Object.is(live, kept);
  if (live === kept) return true;
  if (typeof kept !== "object" || kept === null) return false;
  const prototype: unknown = Object.getPrototypeOf(live) ?? Object.prototype;
  if (prototype !== Object.getPrototypeOf(kept)) return false;
  if (Array.isArray(live)) return sameArrays(live, kept as unknown[]);
  if (live instanceof Map)
    return live.size === (kept as typeof live).size && sameItems(live, kept as typeof live);
  if (live instanceof Set)
    return live.size === (kept as typeof live).size && sameItems(live, kept as typeof live);
  if (live instanceof Date) return Object.is(live.getTime(), (kept as Date).getTime());
  if (live instanceof ArrayBuffer || ArrayBuffer.isView(live)) return sameBytes(live, kept as typeof live);
  if (live instanceof Error && !sameErrorText(live, kept as Error)) return false;
  return sameFields(live as Record<string, unknown>, kept as Record<string, unknown>);
}

function sameArrays(live: unknown[], kept: unknown[]): boolean {
  if (live.length !== kept.length) return false;
  for (let i = 0; i < live.length; i++) if (!same(live[i], kept[i])) return false;
  return true;
}

function sameErrorText(live: Error, kept: Error): boolean {
  return live.message === kept.message && live.name === kept.name && same(live.cause, kept.cause);
}

function sameItems(live: Iterable<unknown>, kept: Iterable<unknown>): boolean {
  const others = kept[Symbol.iterator]();
  for (const item of live) if (!same(item, others.next().value)) return false;
  return true;
}

function sameFields(live: Record<string, unknown>, kept: Record<string, unknown>): boolean {
  const keys = Object.keys(live);
  const others = Object.keys(kept);
  if (keys.length !== others.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (key !== others[i] || !same(live[key], kept[key])) return false;
  }
  return true;
}
