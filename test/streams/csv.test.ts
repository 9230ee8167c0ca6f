import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { CsvReader, inferCsv, inferNdjson } from "#src/streams/door/index.js";
import fc from "../properties.js";
import { contents } from "./batches.js";

function rowsOf(of: Schema, bytes: Buffer, pieces: readonly number[] = [], header = false): Cell[][] {
  const reader = new CsvReader(of, { recordBytesMax: 10_000 }, { header });
  const rows: Cell[][] = [];
  let rest = Buffer.alloc(0);
  for (let from = 0, i = 0; ; i++) {
    const to = Math.min(bytes.length, from + (pieces[i] ?? bytes.length));
    const given = Buffer.concat([rest, bytes.subarray(from, to)]);
    const { batch, used } = reader.read(given, to === bytes.length);
    rows.push(...contents(batch).rows);
    rest = given.subarray(used);
    from = to;
    if (to === bytes.length) return rows;
  }
}

/** Written by the book: quotes where they are needed, and sometimes where they are not. */
function written(cell: string | null, quote: boolean): string {
  if (cell === null) return "";
  return quote || cell === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const cell = fc.option(
  fc.oneof(fc.constantFrom("", "a", ",", '"', "\n", "\r\n", "ä,ö", '""'), fc.string({ unit: "grapheme" })),
);

test("any texts come back from CSV, in pieces of any size, with either line end, with or without a last one", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }).chain((width) =>
        fc.array(fc.tuple(...Array.from({ length: width }, () => fc.tuple(cell, fc.boolean()))), {
          minLength: 1,
          maxLength: 6,
        }),
      ),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 40 }),
      (rows, end, hasLast, pieces) => {
        const of = (rows[0] ?? []).map((_, i) => column(`c${i}`, "text"));
        const text = rows.map((row) => row.map(([each, quote]) => written(each, quote)).join(",")).join(end);
        const bytes = Buffer.from(hasLast ? text + end : text);
        const expected = rows.map((row) => row.map(([each]) => each));
        assert.deepEqual(rowsOf(of, bytes), expected);
        assert.deepEqual(rowsOf(of, bytes, pieces), expected);
      },
    ),
    { numRuns: 1000 },
  );
});

test("numbers, truth values and times are read as PostgreSQL reads them", () => {
  const of = [
    column("i", "int"),
    column("f", "float"),
    column("b", "bool"),
    column("t", "timestamp"),
    column("n", "numeric", true, 2),
  ];
  const text =
    "1,1.5,t,2025-01-01,1.5\n-7,-0,NO, 2025-01-01 10:00:00.5 ,-0.25\n 12 ,1e3,off,,\n007,Infinity,1,2025-01-01T00:00:00+01:00,10\n";
  assert.deepEqual(rowsOf(of, Buffer.from(text)), [
    [1, 1.5, true, Date.UTC(2025, 0, 1), 150],
    [-7, -0, false, Date.UTC(2025, 0, 1, 10, 0, 0, 500), -25],
    [12, 1000, false, null, null],
    [7, Number.POSITIVE_INFINITY, true, Date.UTC(2024, 11, 31, 23), 1000],
  ]);
});

const refused: [text: string | Buffer, message: RegExp][] = [
  ["a,b\n1,2\n1\n", /Line 3 \(byte 8\): there are 1 fields, and 2 columns/],
  ["a,b\n1,2\n\nx,2\n", /Line 4 \(byte 9\): the column "a" is "x"; it takes int/],
  ['a,b\n1,"2\n', /Line 2 \(byte 4\): a quote is opened and never closed/],
  ['a,b\n1,"2"x\n', /a closing quote is followed by something else/],
  ['a,b\n"1\n",2\n"x\n",2\n', /Line 4 \(byte 11\)/],
  [Buffer.from("a,b\n1,\xff\n", "latin1"), /Line 2 \(byte 4\): byte 6 is not UTF-8/],
  [`a,b\n1,"${"x".repeat(20_000)}"\n`, /Line 2 .* longer than 10000 bytes/],
  [`a,b\n1,"${"x".repeat(20_000)}`, /never closed|longer than 10000 bytes/],
];

test("a record that does not fit is refused with its line and byte", () => {
  const of = [column("a", "int"), column("b", "text")];
  for (const [text, message] of refused) {
    const read = () => rowsOf(of, Buffer.from(text), [], true);
    assert.throws(
      read,
      (error) => error instanceof HeadwaterError && error.code === "HW-5302" && message.test(error.message),
    );
  }
});

test("a schema is found in the first records, and every record of the sample fits it", () => {
  const csv =
    '\ufeffid,price,ok,at,zip,id,,note\n1,2,true,2025-01-01,007,1,,\n2,2.5,FALSE,2025-01-01T10:00,12,x,,"a,b"\n';
  assert.deepEqual(
    inferCsv(Buffer.from(csv)).map(({ name, type }) => `${name} ${type}`),
    [
      "id int",
      "price float",
      "ok bool",
      "at timestamp",
      "zip text",
      "id_2 text",
      "column7 text",
      "note text",
    ],
  );
  assert.equal(rowsOf(inferCsv(Buffer.from(csv)), Buffer.from(csv), [], true).length, 2);
  const ndjson =
    '{"a":1,"b":"x","c":[1]}\n{"a":1.5,"d":"2025-01-01","b":null,"e":null}\n{"f":1}\n{"f":"x"}\n';
  assert.deepEqual(
    inferNdjson(Buffer.from(ndjson)).map(({ name, type }) => `${name} ${type}`),
    ["a float", "b text", "c json", "d timestamp", "e text", "f json"],
  );
});

test("a sample that is CSV of any values can be read with the schema that was found in it", () => {
  const value = fc.oneof(
    fc.integer().map(String),
    fc.double().map(String),
    fc.boolean().map(String),
    fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString()),
    fc.constantFrom("007", "1e5", "-", "12345678901234567890"),
    fc.string(),
  );
  const column = fc.oneof(
    fc.array(value, { minLength: 6, maxLength: 6 }),
    fc.array(fc.integer().map(String), { minLength: 6, maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(column, { minLength: 2, maxLength: 4 }), (columns) => {
      const rows = Array.from({ length: 6 }, (_, i) =>
        columns.map((each) => written(each[i] ?? null, false)).join(","),
      );
      const bytes = Buffer.from(`${columns.map((_, i) => `c${i}`).join(",")}\n${rows.join("\n")}\n`);
      assert.equal(rowsOf(inferCsv(bytes), bytes, [], true).length, 6);
    }),
    { numRuns: 500 },
  );
});
