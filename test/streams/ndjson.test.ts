import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { NdjsonReader } from "#src/streams/door/index.js";
import { ndjsonCode } from "#src/streams/door/ndjson-code.js";
import fc from "../properties.js";
import { contents, spec } from "./batches.js";

/** What a reader makes of bytes: rows, or the refusal with its place. */
function outcome(
  schema: Schema,
  bytes: Buffer,
  fast: boolean,
  pieces: readonly number[] = [],
  recordBytesMax = 1_000_000,
): unknown {
  const reader = new NdjsonReader(schema, { recordBytesMax }, { fast });
  const rows: Cell[][] = [];
  try {
    let rest = Buffer.alloc(0);
    let from = 0;
    for (const piece of [...pieces, bytes.length]) {
      const to = Math.min(bytes.length, from + piece);
      const given = Buffer.concat([rest, bytes.subarray(from, to)]);
      const { batch, used } = reader.read(given, to === bytes.length);
      rows.push(...contents(batch).rows);
      rest = given.subarray(used);
      from = to;
      if (to === bytes.length) break;
    }
    assert.equal(rest.length, 0);
    return rows;
  } catch (error) {
    assert.ok(error instanceof HeadwaterError && error.code === "HW-5302", String(error));
    return error.message;
  }
}

const NAMES = ["a", "b", "price", "ä", '"', "\\", "__proto__", "constructor", ""];

const schema: fc.Arbitrary<Schema> = fc
  .uniqueArray(fc.tuple(spec, fc.constantFrom(...NAMES)), {
    selector: ([, name]) => name,
    minLength: 1,
    maxLength: 4,
  })
  .map((specs) => specs.map(([each, name]) => ({ ...each, name })));

/** JSON as it is written, with what a fast reader could get wrong: numbers, escapes, control characters, odd bytes. */
const number = fc.oneof(
  fc.maxSafeInteger().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    "0",
    "-0",
    "00",
    "01",
    "-01",
    "-",
    "+1",
    "1.",
    ".5",
    "0.10",
    "1e3",
    "1E-3",
    "1e400",
    "-0.0",
    "9007199254740991",
    "9007199254740993",
    "123456789012345",
    "1234567890123456",
    "0.1234567890123456",
    "123456789.12345678",
    "-12.5e1",
    "NaN",
    "0x1",
  ),
  fc
    .tuple(fc.maxSafeNat(), fc.nat({ max: 20 }))
    .map(([digits, scale]) => `${digits}`.replace(new RegExp(`(\\d{0,${scale}})$`), ".$1")),
);
const text = fc.oneof(
  fc.string({ unit: "grapheme" }).map((each) => JSON.stringify(each)),
  fc.constantFrom(
    '"a"',
    '"2025-12-31T23:59:59Z"',
    '"2025-02-30"',
    '"\\u0041"',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\t"',
    '"\u0001"',
    '"unclosed',
    '"a\\"b"',
    '"\\x"',
    '""',
    '"\u007f"',
    '"12.50"',
    `"${"x".repeat(40)}"`,
  ),
);
const json = fc.oneof(
  number,
  text,
  fc.constantFrom(
    "null",
    "nul",
    "true",
    "false",
    "True",
    "[]",
    "[1]",
    "{}",
    '{"a":1}',
    "",
    `${"[".repeat(600)}${"]".repeat(600)}`,
  ),
  fc.json(),
);

function lines(of: Schema): fc.Arbitrary<Buffer> {
  const gap = fc.constantFrom("", "", "", " ", "  ", "\t", "\r");
  const keys = fc.constantFrom(...of.map(({ name }) => name));
  const pair = (name: string) =>
    fc.tuple(gap, gap, json).map(([a, b, value]) => `${a}${JSON.stringify(name)}:${b}${value}`);
  const expected = fc.tuple(...of.map(({ name }) => pair(name)));
  const pairs = fc.oneof({ weight: 6, arbitrary: expected }, fc.array(keys.chain(pair), { maxLength: 5 }));
  const object = fc
    .tuple(pairs, gap, fc.constantFrom("", "", "", "", " ", ",", "}", "x"))
    .map(([all, end, after]) => `{${all.join(",")}${end}}${after}`);
  const line = fc.oneof({ weight: 12, arbitrary: object }, json, fc.constantFrom("", " ", "{", "\u2028"));
  const junk = fc.oneof(
    { weight: 8, arbitrary: fc.constant(Buffer.alloc(0)) },
    fc.uint8Array({ maxLength: 3 }).map((each) => Buffer.from(each)),
  );
  return fc
    .array(fc.tuple(line, junk, fc.constantFrom("\n", "\n", "\r\n")), { maxLength: 8 })
    .map((all) =>
      Buffer.concat(all.flatMap(([each, odd, end]) => [Buffer.from(each), odd, Buffer.from(end)])),
    );
}

const input = schema.chain((of) => fc.tuple(fc.constant(of), lines(of), fc.boolean()));

test("for any bytes the generated parser gives what JSON.parse gives, rows or refusal", () => {
  fc.assert(
    fc.property(input, fc.constantFrom(60, 1000, 1_000_000), ([of, bytes, cut], recordBytesMax) => {
      const given = cut ? bytes.subarray(0, Math.max(0, bytes.length - 1)) : bytes;
      assert.deepEqual(
        outcome(of, given, true, [], recordBytesMax),
        outcome(of, given, false, [], recordBytesMax),
      );
    }),
    { numRuns: 3000 },
  );
});

/** Lines that nearly all go the fast way, so that the property above is not only about lines that do not. */
const typical: fc.Arbitrary<[Schema, Record<string, unknown>[]]> = fc
  .record({
    id: fc.nat(),
    price: fc.integer({ min: -1e6, max: 1e6 }),
    rate: fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0),
    ok: fc.boolean(),
    name: fc.oneof(fc.constantFrom("apple", "pear", "ﬁg"), fc.string({ unit: "grapheme" })),
    at: fc.option(fc.integer({ min: 0, max: 2e12 })),
  })
  .chain((first) => fc.array(fc.constant(first), { maxLength: 3 }).map((more) => [first, ...more]))
  .map((records) => [
    [
      column("id", "int", false),
      column("price", "int"),
      column("rate", "float", false),
      column("ok", "bool", false),
      column("name", "text", false),
      column("at", "timestamp"),
    ],
    records,
  ]);

test("what JSON.stringify writes is read back, also in pieces of any size", () => {
  fc.assert(
    fc.property(typical, fc.array(fc.integer({ min: 1, max: 50 })), ([of, records], pieces) => {
      const bytes = Buffer.from(records.map((each) => `${JSON.stringify(each)}\n`).join(""));
      const expected = records.map((each) => of.map(({ name }) => each[name]));
      assert.deepEqual(outcome(of, bytes, true), expected);
      assert.deepEqual(outcome(of, bytes, true, pieces), expected);
    }),
    { numRuns: 500 },
  );
});

test("a refusal has the line and the byte of its record, also in a later piece", () => {
  const of = [column("a", "int")];
  const bytes = Buffer.from('{"a":1}\n\n{"b":2}\n{"a":"x"}\n');
  const expected = 'HW-5302: Line 4 (byte 17): the column "a" is "x"; it takes int or null.';
  assert.equal(outcome(of, bytes, true), expected);
  assert.equal(outcome(of, bytes, true, [3, 3, 3, 3]), expected);
  assert.match(
    String(outcome(of, Buffer.from('{"a":1}\n{"a":\xff}', "latin1"), true)),
    /Line 2 \(byte 8\): byte 6 of the line is not UTF-8/,
  );
});

test("no name of a column becomes code: the parser is made of its own words and numbers", () => {
  const words = new Set(
    ndjsonCode([
      column("a", "int"),
      column("b", "float"),
      column("c", "bool"),
      column("d", "text"),
      column("e", "timestamp"),
      column("f", "json"),
    ]).match(/[A-Za-z_$]+/g),
  );
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "*/ process.exit() /*",
      "`$" + "{process.exit()}`",
      '"; process.exit(); "',
      "\u2028process.exit()",
      "\\u0022",
      "__proto__",
      "\n}while(1){",
    ),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(hostile, { minLength: 1, maxLength: 4 }),
      spec,
      (names, { type, nullable }) => {
        const of = names.map((name) => column(name, type, nullable));
        const code = ndjsonCode(of);
        assert.match(code, /^[\w\s$.,;:(){}[\]=<>!&|?+\-*/]*$/);
        for (const word of code.match(/[A-Za-z_$]+/g) ?? []) assert.ok(words.has(word), word);
        if (!names.every((name) => !/\p{Surrogate}/u.test(name))) return;
        const line = Buffer.from(JSON.stringify(Object.fromEntries(names.map((name) => [name, null]))));
        assert.deepEqual(outcome(of, line, true), outcome(of, line, false));
      },
    ),
    { numRuns: 500 },
  );
});
