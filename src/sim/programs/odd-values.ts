/**
 * Values of every kind that contexts may hold (docs/state.md), for generated programs: what encodings have no word for, and
 * what looks like something else in them. Each is made anew, because fields are changed in place.
 */
const ODD: readonly ((n: number) => unknown)[] = [
  () => null,
  () => undefined,
  () => -0,
  () => Number.NaN,
  () => Number.NEGATIVE_INFINITY,
  (n) => n + 0.5,
  (n) => 2 ** 53 + 2 * n,
  (n) => 10n ** 20n + BigInt(n),
  (n) => n % 2 === 0,
  (n) => `\ud800${n}`,
  (n) => "odd ".repeat(50 + (n % 300)), // stays unread when it moves, or has a key of its own in a journal
  () => [],
  (n) => [null, n % 16, n],
  () => [null],
  (n) => new Array(1 + (n % 2)),
  (n) => ({ "\udc00": n, constructor: "c", "": undefined }),
  (n) => new Date(n % 3 === 0 ? Number.NaN : n),
  (n) => new Map<unknown, unknown>([[null, new Set([n, null])]]),
  (n) => Uint16Array.of(n),
  (n) => Buffer.of(n % 256),
  (n) => Object.assign(new TypeError(`odd ${n}`, { cause: null }), { n }),
];

/** Keys of tracked maps and items of tracked sets. */
const ODD_KEYS: readonly (string | number | boolean | bigint)[] = [
  "\ud800",
  "\ud801",
  "\0",
  "#",
  Number.NaN,
  0.5,
  true,
  5n,
];

const ONE_IN = 5;

/** A number as it is, or something odd in its place: always the same for the same number. */
export function dressed(n: number): unknown {
  if (n % ONE_IN !== 0) return n;
  const make = ODD[(n / ONE_IN) % ODD.length];
  return make === undefined ? null : make(n);
}

export function dressedKey<K extends string | number>(n: number, plain: K): K {
  return n % ONE_IN === 1 ? (ODD_KEYS[Math.floor(n / ONE_IN) % ODD_KEYS.length] as K) : plain;
}
