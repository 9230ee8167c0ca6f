import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import {
  Batch,
  column,
  decodeBatch,
  encodeBatch,
  numericOf,
  numericText,
  timestampOfText,
  timestampText,
} from "#src/streams/columns/index.js";
import fc from "../properties.js";
import { batch, contents } from "./batches.js";

function isRefusal(error: unknown): boolean {
  return error instanceof HeadwaterError && error.code === "HW-5301";
}

test("any batch comes back from its bytes as it was", () => {
  fc.assert(
    fc.property(batch, (one) => {
      const back = decodeBatch(encodeBatch(one), one.schema);
      assert.deepEqual(contents(back), contents(one));
    }),
    { numRuns: 500 },
  );
});

test("bytes that end early or late are refused", () => {
  fc.assert(
    fc.property(batch, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 9 }), (one, at, more) => {
      const bytes = encodeBatch(one);
      assert.throws(() => decodeBatch(bytes.subarray(0, at % bytes.length), one.schema), isRefusal);
      assert.throws(() => decodeBatch(Buffer.concat([bytes, more]), one.schema), isRefusal);
    }),
    { numRuns: 300 },
  );
});

test("flipped bytes are refused", () => {
  fc.assert(
    fc.property(
      batch,
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
      (one, flips) => {
        const bytes = Buffer.from(encodeBatch(one));
        const before = Buffer.from(bytes);
        for (const [at, flip] of flips)
          bytes.writeUInt8(bytes.readUInt8(at % bytes.length) ^ flip, at % bytes.length);
        if (bytes.equals(before)) return;
        assert.throws(() => decodeBatch(bytes, one.schema), isRefusal);
      },
    ),
    { numRuns: 500 },
  );
});

test("a stranger's bytes with a right checksum give a batch of the schema or are refused", async () => {
  const { crc32 } = await import("node:zlib");
  fc.assert(
    fc.property(
      batch,
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }),
      (one, writes) => {
        const bytes = Buffer.from(encodeBatch(one));
        const body = bytes.length - 4;
        for (const [at, value] of writes) bytes.writeUInt8(value, at % body);
        bytes.writeUInt32LE(crc32(bytes.subarray(0, body)), body);
        let made: Batch;
        try {
          made = decodeBatch(bytes, one.schema, 1_000_000);
        } catch (error) {
          assert.ok(isRefusal(error), String(error));
          return;
        }
        // What was taken is a batch like any other: it can be written and read again.
        assert.deepEqual(contents(decodeBatch(encodeBatch(made), one.schema)), contents(made));
        for (const [i, { type, nullable }] of one.schema.entries())
          for (let row = 0; row < made.rows; row++) {
            const cell = made.cell(row, i);
            assert.ok(cell !== null || nullable);
            if (type === "int" && cell !== null) assert.ok(Number.isSafeInteger(cell));
          }
      },
    ),
    { numRuns: 1000 },
  );
});

test("a batch of another schema is refused", () => {
  const bytes = encodeBatch(Batch.of([column("a", "int")], [[1], [null]]));
  assert.throws(() => decodeBatch(bytes, [column("a", "float")]), /not of the type float/);
  assert.throws(() => decodeBatch(bytes, [column("a", "int", false)]), /has NULLs and must not/);
  assert.throws(() => decodeBatch(bytes, []), /1 columns, and its stream has 0/);
});

test("a few bytes cannot stand for more rows than the limit in bytes allows", () => {
  const many = Batch.empty([column("a", "int", false)], 1_000_000);
  many.rows = 1_000_000;
  const bytes = encodeBatch(many);
  assert.ok(bytes.length < 40);
  assert.throws(() => decodeBatch(bytes, many.schema, 1_000_000), /would take 13000000 bytes/);
});

test("a time comes back from its text, and every time that JavaScript reads in this form is read alike", () => {
  const time = fc.date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(time, fc.constantFrom("Z", "+02:00", "-11:30", ""), (date, zone) => {
      assert.equal(timestampOfText(timestampText(date.getTime())), date.getTime());
      const written = `${date.toISOString().slice(0, -1)}${zone}`;
      const ms = Date.parse(zone === "" ? `${written}Z` : written);
      const year = new Date(ms).getUTCFullYear();
      assert.equal(timestampOfText(written), year >= 1 && year <= 9999 ? ms : Number.NaN);
    }),
  );
});

test("what is no time is not taken for one", () => {
  const numbers = fc.tuple(
    fc.nat({ max: 9999 }),
    fc.nat({ max: 14 }),
    fc.nat({ max: 33 }),
    fc.nat({ max: 25 }),
    fc.nat({ max: 61 }),
    fc.nat({ max: 61 }),
  );
  const two = (value: number) => String(value).padStart(2, "0");
  fc.assert(
    fc.property(numbers, ([year, month, day, hour, minute, second]) => {
      const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`;
      const date = new Date(`${text}Z`);
      const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && year > 0;
      assert.equal(timestampOfText(text), isReal ? date.getTime() : Number.NaN);
    }),
    { numRuns: 2000 },
  );
  for (const text of [
    "",
    "2025",
    "2025-01-01x",
    "2025-01-01T",
    "2025-01-01T10",
    "2025-01-01T10:00:",
    "2025-01-01T10:00+",
    "2025-01-01T10:00:00.",
    "2025-01-01T10:00:00Zx",
    "2025-01-01T10:00:00+1",
    "12025-01-01",
  ])
    assert.ok(Number.isNaN(timestampOfText(text)), text);
});

test("a decimal comes back from its text, however large", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), fc.nat({ max: 30 }), (digits, scale) => {
      const sign = digits < 0n ? "-" : "";
      const plain = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
      const text =
        scale === 0 ? `${sign}${plain}` : `${sign}${plain.slice(0, -scale)}.${plain.slice(-scale)}`;
      const value = numericOf(text, scale);
      assert.ok(value !== null);
      assert.equal(BigInt(value), digits);
      assert.equal(numericText(value, scale), text);
    }),
  );
  for (const text of ["", "-", ".", "1e5", "0x1", "1.234", " 1", "NaN"])
    assert.equal(numericOf(text, 2), null);
});
