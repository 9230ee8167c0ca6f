import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "#src/errors.js";
import { fromForm } from "#src/protocol/form.js";
import { parseJson } from "#src/server/json.js";
import fc from "../properties.js";

/** What `parseJson` accepts and refuses, against a slow reading of the text, token by token. */

const DEPTH = 8;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]|true|false|null/gy;

/** The number of which a literal is the decimal notation, as a whole number of 10^-1000. */
function exactly(literal: string): bigint {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const shift = 1000 + Number(exponent) - fraction.length;
  return BigInt(whole + fraction) * 10n ** BigInt(shift);
}

function isKept(literal: string): boolean {
  const [plain, value] = [literal.replace("-", ""), Math.abs(Number(literal))];
  if (value <= Number.MAX_SAFE_INTEGER) return true;
  if (value === Infinity || /^\d+(\.0*)?$/.test(plain)) return false;
  return exactly(plain) === exactly(String(value));
}

function slowly(text: string): unknown {
  let depth = 0;
  for (const [token] of text.replaceAll(/"(?:[^"\\]|\\.)*"?/g, "").matchAll(/[{}[\]]/g)) {
    depth += token === "{" || token === "[" ? 1 : -1;
    if (depth > DEPTH) return "HW-4007";
  }
  let form: unknown;
  try {
    form = JSON.parse(text);
  } catch {
    return "HW-4005";
  }
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (const [token] of text.replaceAll(/\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)/g, "").matchAll(TOKEN)) {
    if (token === "{" || token === "[") open.push(token === "{" ? new Set() : null);
    if (token === "}" || token === "]") open.pop();
    if (/^-?\d/.test(token) && !isKept(token)) return "HW-4007";
    if (token.startsWith('"')) {
      const content = JSON.parse(token) as string;
      const names = isName ? (open.at(-1) ?? null) : null;
      if (/\p{Surrogate}/u.test(content) || names?.has(content)) return "HW-4007";
      if (isName && ["__proto__", "constructor", "prototype"].includes(content)) return "HW-4007";
      names?.add(content);
    }
    isName = token === "{" || (token === "," && open.at(-1) !== null);
  }
  try {
    return { value: fromForm(form) };
  } catch (error) {
    return (error as HeadwaterError).code;
  }
}

function quickly(text: string): unknown {
  try {
    return { value: parseJson(Buffer.from(text), DEPTH) };
  } catch (error) {
    assert.ok(error instanceof HeadwaterError, String(error));
    return error.code;
  }
}

const digits = (most: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: most }).map((each) => each.join(""));
const number = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(
      digits(20),
      fc.constantFrom("9007199254740991", "9007199254740992", "9007199254740993", "1", "0"),
    ),
    fc.oneof(
      fc.constantFrom("", ".0", ".5", ".00"),
      digits(18).map((each) => `.${each}`),
    ),
    fc.oneof(fc.constantFrom("", "e0", "E+1", "e-1", "e22", "e23", "e300", "e400", "e-400"), fc.constant("")),
  )
  .map(
    ([sign, whole, fraction, exponent]) => `${sign}${whole.replace(/^0+(?=\d)/, "")}${fraction}${exponent}`,
  );
const piece = fc.oneof(
  { weight: 8, arbitrary: fc.string({ maxLength: 3 }).map((each) => JSON.stringify(each).slice(1, -1)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "\\u0061",
      "\\ud800",
      "\\udc00",
      "\\ud83d\\ude00",
      "\\\\",
      '\\"',
      "[",
      "{",
      ":",
      "a",
    ),
  },
);
const text = fc.array(piece, { maxLength: 3 }).map((each) => `"${each.join("")}"`);
const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('"a"', '"b"', '"c"', '"$map"', '"$set"', '"$number"', '"\\u0061"'),
  },
  { weight: 3, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom('"__proto__"', '"constructor"', '"\\u005f_proto__"') },
);
const space = fc.constantFrom("", "", "", " ", "\n\t");
const { value: json } = fc.letrec<{ value: string }>((again) => ({
  value: fc.oneof(
    { maxDepth: DEPTH + 2, withCrossShrink: true },
    fc.oneof(number, text, fc.constantFrom("true", "false", "null", "1", '"NaN"')),
    fc
      .array(fc.tuple(space, again("value")), { maxLength: 4 })
      .map((each) => `[${each.map((p) => p.join("")).join(",")}]`),
    fc
      .array(fc.tuple(name, space, again("value")), { maxLength: 3 })
      .map((each) => `{${each.map(([key, gap, item]) => `${key}${gap}:${gap}${item}`).join(",")}}`),
  ),
}));

test("what is accepted, refused and read is what a slow reading of the text says, for any JSON", () => {
  fc.assert(
    fc.property(json, (each) => assert.deepEqual(quickly(each), slowly(each))),
    { numRuns: 4000 },
  );
});

test("the same for texts that are nearly JSON", () => {
  const broken = fc
    .tuple(json, fc.nat(), fc.constantFrom("", '"', "\\", "[", "}", ",", ":", "1", "e", "-", "u"))
    .map(([each, at, put]) => {
      const where = at % (each.length + 1);
      return each.slice(0, where) + put + each.slice(where + (at % 2));
    });
  fc.assert(
    fc.property(broken, (each) => assert.deepEqual(quickly(each), slowly(each))),
    { numRuns: 4000 },
  );
});

test("a number is refused if JavaScript would make another one of it, in any notation", () => {
  for (const kept of [
    "9007199254740991",
    "0.1",
    "6.02214076e23",
    "1e300",
    "1.7976931348623157e308",
    "12.50",
    "1E22",
  ]) {
    assert.deepEqual(quickly(`[-${kept}]`), { value: [-Number(kept)] });
  }
  for (const lost of [
    "9007199254740993",
    "9007199254740993.0",
    "9007199254740993e0",
    "900719925474099.3e1",
    "1e400",
  ]) {
    assert.equal(quickly(`[${lost}]`), "HW-4007", lost);
  }
});
