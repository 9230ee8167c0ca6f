import type { ColumnSpec, ColumnType, Schema } from "../columns/index.js";

/**
 * The parser of one schema, as JavaScript. It takes lines as most writers write them: the keys of the schema, all of them,
 * in its order, at most one space after a colon or comma, texts without escapes, numbers of at most 15 digits. It goes
 * from bytes to columns without making an object or a string. At any other line it stops, and `ndjson.ts` reads that line
 * with `JSON.parse`; so this code decides nothing about meaning, it only has to take no line that `JSON.parse` reads otherwise.
 *
 * The text is made of this file's own words and of numbers: a key is compared byte by byte with numbers, so no name of a
 * column, however it is written, becomes code.
 *
 * A slot of the row that a line stopped in holds whatever was read so far; the other way of reading writes all of the row.
 */
export function ndjsonCode(schema: Schema): string {
  const lines = [
    "let at = state.at, row = state.row;",
    "const end = bytes.length, rows = state.capacity, bytesMax = state.recordBytesMax;",
    ...schema.flatMap((spec, i) => locals(spec, i)),
    "while (row < rows && at < end) {",
    "let p = at, x = 0, m = 0, first = 0, negative = false, hash = 0, time = 0;",
    "if (bytes[p] !== 123) break;",
    "p += 1;",
    ...schema.flatMap((spec, i) => [
      ...(i === 0 ? [] : ["if (bytes[p] !== 44) break;", "if (bytes[++p] === 32) p += 1;"]),
      ...key(spec.name),
      ...value(spec, i),
    ]),
    "if (bytes[p] !== 125) break;",
    "p += 1;",
    "if (p < end && bytes[p] === 13) p += 1;",
    "if (p - at > bytesMax) break;",
    "if (p < end) { if (bytes[p] !== 10) break; p += 1; }",
    "row += 1; at = p;",
    "}",
    "state.at = at; state.row = row;",
  ];
  return lines.join("\n");
}

function locals({ type, nullable }: ColumnSpec, i: number): string[] {
  const isText = type === "text" || type === "json";
  return [
    isText
      ? `const c${i} = columns[${i}].codes, t${i} = columns[${i}].texts;`
      : `const c${i} = columns[${i}].values;`,
    ...(nullable ? [`const n${i} = columns[${i}].nulls;`] : []),
  ];
}

function key(name: string): string[] {
  const written = Buffer.from(JSON.stringify(name), "utf8");
  const differs = [...written].map((byte, i) => `bytes[p + ${i}] !== ${byte}`);
  return [
    `if (${differs.join(" || ")} || bytes[p + ${written.length}] !== 58) break;`,
    `p += ${written.length + 1};`,
    "if (bytes[p] === 32) p += 1;",
  ];
}

const NULL = "bytes[p] === 110 && bytes[p + 1] === 117 && bytes[p + 2] === 108 && bytes[p + 3] === 108";

function value({ type, nullable }: ColumnSpec, i: number): string[] {
  const read = READ[type](i);
  if (!nullable) return read;
  return [`if (${NULL}) { c${i}[row] = 0; n${i}[row] = 1; p += 4; } else {`, `n${i}[row] = 0;`, ...read, "}"];
}

/** Digits into `m`, from `first` on; a zero that more digits follow ends here, and what follows is then no comma. */
const DIGITS = [
  "negative = bytes[p] === 45;",
  "if (negative) p += 1;",
  "first = p; x = bytes[p];",
  "if (!(x >= 48 && x <= 57)) break;",
  "m = x - 48; p += 1;",
  "if (m !== 0) while ((x = bytes[p]) >= 48 && x <= 57) { m = m * 10 + x - 48; p += 1; }",
];

const TEXT = [
  "if (bytes[p] !== 34) break;",
  "first = ++p; hash = 0;",
  "while ((x = bytes[p]) !== 34 && x >= 32 && x !== 92) { hash = (Math.imul(hash, 31) + x) | 0; p += 1; }",
  "if (x !== 34) break;",
];

/** The parts of a number after its first digits. Up to 15 digits over a power of ten within 10^22 are rounded once. */
const FRACTION = [
  "if (bytes[p] === 46) {",
  "const point = p;",
  "p += 1;",
  "while ((x = bytes[p]) >= 48 && x <= 57) { m = m * 10 + x - 48; p += 1; }",
  "if (p === point + 1) break;",
  "if (x === 69 || x === 101 || p - first > 16) break;",
  "m /= powers[p - point - 1];",
  "} else if (p - first > 15) break;",
];

const READ: Readonly<Record<ColumnType, (i: number) => string[]>> = {
  int: (i) => [...DIGITS, "if (p - first > 15) break;", `c${i}[row] = negative ? 0 - m : m;`],
  float: (i) => [...DIGITS, ...FRACTION, `c${i}[row] = negative ? -m : m;`],
  bool: (i) => [
    "if (bytes[p] === 116 && bytes[p + 1] === 114 && bytes[p + 2] === 117 && bytes[p + 3] === 101) {",
    `c${i}[row] = 1; p += 4;`,
    "} else if (bytes[p] === 102 && bytes[p + 1] === 97 && bytes[p + 2] === 108 && bytes[p + 3] === 115 && bytes[p + 4] === 101) {",
    `c${i}[row] = 0; p += 5;`,
    "} else break;",
  ],
  text: (i) => [
    ...TEXT,
    `c${i}[row] = p - first <= 32 ? indexes[${i}].code(bytes, first, p, hash, t${i}) : t${i}.addSlice(first, p);`,
    "p += 1;",
  ],
  timestamp: (i) => [
    "if (bytes[p] === 34) {",
    ...TEXT,
    "time = timestampOf(bytes, first, p);",
    "if (time !== time) break;",
    `c${i}[row] = time; p += 1;`,
    "} else {",
    ...DIGITS,
    // Fourteen digits are times of the years 1 to 9999, unless they are negative.
    "if (negative || p - first > 14) break;",
    `c${i}[row] = m;`,
    "}",
  ],
  numeric: () => ["break;"],
  json: () => ["break;"],
};
