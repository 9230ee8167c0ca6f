import fc from "../properties.js";
import { Money, Overdrawn } from "./classes.js";

/** Any value that contexts may hold and pass (docs/state.md), with those preferred that look like something else. */

const HALF = "\ud800";
const OTHER_HALF = "\udfff";

/** Texts that some encoding could take for something else, or could not say. */
const oddTexts = fc.constantFrom(
  "",
  "\0",
  "\0a",
  "#",
  "$undefined",
  "$plain",
  "__proto__x",
  "\ufeff",
  "\ufffd",
  "null",
  '"',
  "\\ud800",
  HALF,
  OTHER_HALF,
  `a${HALF}b`,
  `${OTHER_HALF}${HALF}`,
  "𝄞",
  `𝄞${HALF}`,
  "é".repeat(30),
  "x".repeat(31),
  "x".repeat(32),
  "x".repeat(40),
  "x".repeat(41),
  "x".repeat(255),
  "x".repeat(256),
  "é".repeat(256),
);
export const texts: fc.Arbitrary<string> = fc.oneof(
  oddTexts,
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ maxLength: 12 }),
  fc
    .array(fc.integer({ min: 0xd7fe, max: 0xe001 }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
);
/** Long enough for a key of its own in a journal, or to stay unread after a move. */
const longTexts = fc
  .tuple(texts, fc.integer({ min: 150, max: 3000 }))
  .map(([text, length]) => (text === "" ? "y" : text).repeat(length).slice(0, length));

const edges = [
  0,
  7,
  31,
  32,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 31,
  2 ** 32,
  2 ** 50,
  2 ** 53,
  2 ** 63,
  2 ** 64,
];
export const numbers: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(-0, Number.NaN, Infinity, -Infinity, 0.1, Number.MIN_VALUE, Number.MAX_VALUE),
  fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: -2, max: 2 }), fc.boolean())
    .map(([edge, by, isNegative]) => {
      return isNegative ? -(edge + by) : edge + by;
    }),
  fc.integer(),
  fc.double(),
);
export const bigints: fc.Arbitrary<bigint> = fc.oneof(
  fc.constantFrom(0n, -1n, 2n ** 63n, -(2n ** 64n), 10n ** 40n),
  fc.bigInt(),
);
const dates = fc.oneof(fc.date(), fc.constantFrom(new Date(Number.NaN), new Date(0), new Date(8.64e15)));

const VIEWS = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
  DataView,
] as readonly (new (
  buffer: ArrayBuffer,
) => ArrayBufferView)[];
const binary: fc.Arbitrary<unknown> = fc
  .tuple(fc.uint8Array({ maxLength: 6 }), fc.integer({ min: 0, max: VIEWS.length + 1 }))
  .map(([bytes, at]) => {
    const View = VIEWS[at];
    const { buffer } = new Uint8Array(bytes.length * 8).fill(bytes[0] ?? 0);
    if (View !== undefined) return new View(buffer);
    return at === VIEWS.length ? Buffer.from(bytes) : new Uint8Array(bytes).buffer;
  });

const names = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom("a", "b", "then", "toJSON", "constructor", "prototype", "length", "0", "name"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("$undefined", "$plain", "$map", "$x", "message", "cause", "kind", "value"),
  },
  { weight: 2, arbitrary: texts.filter((name) => name !== "__proto__") },
);
/** What an error has of its own cannot be one of its fields. */
const errorNames = names.filter((name) => !["name", "message", "cause", "stack"].includes(name));

const simple = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(null, undefined, true, false) },
  { weight: 3, arbitrary: numbers },
  { weight: 3, arbitrary: texts },
  { weight: 1, arbitrary: longTexts },
  { weight: 1, arbitrary: bigints },
);

export const keys: fc.Arbitrary<string | number | boolean | bigint> = fc.oneof(
  texts,
  numbers,
  bigints,
  fc.boolean(),
);

const ERRORS = [Error, TypeError, RangeError, SyntaxError] as const;

function fieldsFrom(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(pairs);
}

function errorFrom(
  at: number,
  message: string,
  pairs: readonly (readonly [string, unknown])[],
  cause: unknown,
): Error {
  const ErrorType = ERRORS[at] ?? Error;
  const error = cause === undefined ? new ErrorType(message) : new ErrorType(message, { cause });
  return Object.assign(error, fieldsFrom(pairs));
}

const marker = fc.integer({ min: -1, max: 15 });

const { value } = fc.letrec<{ value: unknown; item: unknown }>((tie) => {
  const item = tie("item");
  const pairs = fc.uniqueArray(fc.tuple(names, item), { maxLength: 4, selector: ([name]) => name });
  const errorPairs = fc.uniqueArray(fc.tuple(errorNames, item), { maxLength: 2, selector: ([name]) => name });
  const items = fc.array(item, { maxLength: 5 });
  return {
    item: fc.oneof({ maxDepth: 4, depthSize: "small", withCrossShrink: true }, simple, tie("value")),
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small", withCrossShrink: true },
      { weight: 6, arbitrary: simple },
      { weight: 1, arbitrary: dates },
      { weight: 1, arbitrary: binary },
      { weight: 3, arbitrary: items },
      // What the special values of the encodings look like, and what is almost that.
      { weight: 3, arbitrary: fc.tuple(marker, items).map(([kind, rest]) => [null, kind, ...rest]) },
      { weight: 1, arbitrary: items.map((rest) => [null, ...rest]) },
      { weight: 1, arbitrary: fc.tuple(names, item).map((pair) => fieldsFrom([pair])) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((length) => new Array(length)) },
      { weight: 3, arbitrary: pairs.map(fieldsFrom) },
      {
        weight: 1,
        arbitrary: pairs.map((own) => Object.assign(Object.create(null) as object, fieldsFrom(own))),
      },
      { weight: 1, arbitrary: fc.array(fc.tuple(item, item), { maxLength: 4 }).map((own) => new Map(own)) },
      { weight: 1, arbitrary: items.map((own) => new Set(own)) },
      { weight: 1, arbitrary: fc.tuple(item, item).map(([cents, currency]) => new Money(cents, currency)) },
      { weight: 1, arbitrary: item.map((missing) => new Overdrawn(missing)) },
      {
        weight: 1,
        arbitrary: fc.tuple(fc.nat(3), texts, errorPairs, item).map((parts) => errorFrom(...parts)),
      },
    ),
  };
});

/** Any storable value. */
export const storable: fc.Arbitrary<unknown> = value;

/** As deep as plain data may be nested. */
export function nested(inner: unknown, depth: number, wrap: (value: unknown) => unknown): unknown {
  let around = inner;
  for (let i = 0; i < depth; i++) around = wrap(around);
  return around;
}

/** The parts of context keys. */
export const contextKeys = fc.oneof(
  texts,
  numbers.filter(Number.isFinite),
  fc.array(fc.oneof(texts, numbers.filter(Number.isFinite)), { minLength: 2, maxLength: 3 }),
);
