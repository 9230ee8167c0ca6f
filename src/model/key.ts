import { HeadwaterError } from "../errors.js";

type Part = string | number;

/**
 * What names one child among its siblings: a string, a number, or several of them. A single part is a key by itself
 * and never an array of one, so an array that might have only one part is no key.
 */
export type Key = Part | readonly [Part, Part, ...Part[]];

/**
 * Has the text no half of a surrogate pair? UTF-8 has no word for one: different texts would become the same.
 * (`String.prototype.isWellFormed` is newer than the compiler's library.)
 */
export function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

const KEY_LENGTH_MAX = 1024;

function isPart(part: unknown): part is Part {
  return typeof part === "string"
    ? part.length <= KEY_LENGTH_MAX
    : typeof part === "number" && Number.isFinite(part);
}

/** Checks the arguments of `children(...)(key)` and folds several parts into one key. */
export function keyFrom(parts: readonly unknown[], field: string): Key {
  const [first] = parts;
  if (parts.length === 1 && isPart(first)) return first === 0 ? 0 : first;
  if (parts.length > 1 && parts.every(isPart))
    return parts.map((part) => (part === 0 ? 0 : part)) as unknown as Key;
  throw new HeadwaterError(
    "HW-1015",
    `${field}(${parts.map(show).join(", ")}) cannot name a context. A key is a string of at most ` +
      `${KEY_LENGTH_MAX} characters, a finite number, or several of those.`,
  );
}

/** One Map key per context key: numbers and strings stay apart, as do ["a", 1] and ["a", "1"]. */
export function mapKey(key: Key): string | number {
  if (typeof key === "number") return key;
  if (typeof key === "string") return key.startsWith("\u0000") ? `\u0000${key}` : key;
  let name = "";
  for (const part of key) name += typeof part === "string" ? `\u0000${part.length} ${part}` : `\u0000${part}`;
  return name;
}

/** A key as one would write it in a call: `1`, `"ada"`, `3, 4`. */
export function showKey(key: Key): string {
  return typeof key === "object" ? key.map(show).join(", ") : show(key);
}

function show(part: unknown): string {
  return typeof part === "string" ? JSON.stringify(part) : String(part);
}
