import { HeadwaterError } from "../errors.js";

/** Bytes of UTF-8. What lmdb takes with its usual page size, less some room for later. */
export const KEY_BYTES_MAX = 1900;

const SURROGATE = /[\ud800-\udfff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Refuses keys that not every journal could give back as they are. */
export function checkKey(key: string): void {
  const { length } = key;
  if (length === 0) throw unusable(key, "it is empty");
  if (length * 3 > KEY_BYTES_MAX && Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw unusable(key, `it has ${Buffer.byteLength(key)} bytes, and ${KEY_BYTES_MAX} is the most`);
  }
  // Half of a surrogate pair has no UTF-8, so two different keys would become the same one.
  if (SURROGATE.test(key) && LONE_SURROGATE.test(key)) throw unusable(key, "it is not well-formed Unicode");
}

function unusable(key: string, why: string): HeadwaterError {
  const shown = key.length > 60 ? `${JSON.stringify(key.slice(0, 60))}… ` : JSON.stringify(key);
  return new HeadwaterError("HW-3008", `The key ${shown} cannot be stored in a journal: ${why}.`);
}

/**
 * Whether `<` on this string may differ from the order of UTF-8 bytes. JavaScript compares 16-bit units, and
 * characters beyond them are written with units that are smaller than some that stand for characters before them.
 */
export function needsByteOrder(key: string): boolean {
  return SURROGATE.test(key);
}

/** The order of the UTF-8 bytes, which is that of the code points. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Moves the surrogates behind all other units, where the characters that they stand for belong. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
