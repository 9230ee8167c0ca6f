import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { column, numericText, type Scaled } from "#src/streams/columns/index.js";
import { cellsOfRows, NdjsonReader } from "#src/streams/door/index.js";
import fc from "../properties.js";

const NAMES = ["d", "é", "__proto__", 'a"b', "constructor", ""];
const SCALE = 16;

/** A decimal of a sign, some digits and a place for the point, with the ways in which JSON can write it. */
const written = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
    fc.nat({ max: SCALE }),
    fc.constantFrom("plain", "exponent", "text"),
    fc.integer({ min: -3, max: 3 }),
  )
  .map(([scaled, places, how, shift]) => {
    const sign = scaled < 0n ? "-" : "";
    const digits = String(scaled < 0n ? -scaled : scaled).padStart(places + 1, "0");
    const point = digits.length - places;
    const plain = `${sign}${digits.slice(0, point)}${places === 0 ? "" : `.${digits.slice(point)}`}`;
    const exponent = `${sign}${digits.replace(/^0+(?=\d)/, "")}E${-places + shift}`;
    const value = scaled * 10n ** BigInt(SCALE - places);
    if (how === "exponent" && places - shift <= SCALE)
      return { text: exponent, value: scaled * 10n ** BigInt(SCALE - places + shift) };
    return { text: how === "text" ? `"${plain}"` : plain, value };
  });

const noise = fc.constantFrom(
  "",
  ',"t":"9007199254740993 \\" 1e5 \\\\"',
  ',"j":[12345678901234567890,{"d":1e5}]',
);

test("a decimal in a line of JSON keeps every digit that is written", () => {
  fc.assert(
    fc.property(
      written,
      fc.constantFrom(...NAMES),
      noise,
      fc.boolean(),
      ({ text, value }, name, more, fast) => {
        const schema = [column(name, "numeric", true, SCALE), column("f", "float")];
        const line = Buffer.from(`{"f":0.12345678901234568,${JSON.stringify(name)}:${text}${more}}\n`);
        const { batch } = new NdjsonReader(schema, undefined, { fast }).read(line, true);
        assert.equal(BigInt(batch.cell(0, 0) as Scaled), value, numericText(value, SCALE));
        assert.equal(batch.cell(0, 1), 0.12345678901234568);
      },
    ),
    { numRuns: 1000 },
  );
});

test("digits behind the point that a column does not keep are refused, also where a double has lost them", () => {
  const read = (text: string) =>
    new NdjsonReader([column("d", "numeric", true, 2)]).read(Buffer.from(text), true);
  for (const text of [
    '{"d":1.0000000000000001}',
    '{"d":0.1000000000000000055}',
    '{"d":1e-400}',
    '{"d":1e400}',
  ])
    assert.throws(() => read(text), /HW-5302: Line 1 \(byte 0\): the column "d" is /, text);
});

test("a number of a program that may be another one is refused as a decimal", () => {
  const schema = [column("d", "numeric", true, 2)];
  const beyond = fc.double({ min: 2 ** 53, noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(beyond, fc.boolean(), (value, isNegative) => {
      const d = isNegative ? -value : value;
      const refused = (error: unknown) =>
        error instanceof HeadwaterError && /Row 1: .* beyond 2\^53.*write it as a text/.test(error.message);
      assert.throws(() => cellsOfRows([{ d }], schema), refused);
      const exact = BigInt(d);
      assert.equal(BigInt(cellsOfRows([{ d: exact }], schema)[0]?.[0] as Scaled), exact * 100n);
    }),
  );
});
