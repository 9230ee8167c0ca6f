import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { errorOfForm, failureForm } from "#src/protocol/failure.js";
import { fromForm, toForm } from "#src/protocol/form.js";
import { pack } from "#src/protocol/frames.js";
import { Unpacker } from "#src/protocol/unpack.js";
import { formJson, parseJson, toJson } from "#src/server/json.js";
import fc from "../properties.js";
import { Money } from "./classes.js";
import { seen, told } from "./equal.js";
import { storable } from "./storable.js";

/** Any storable value, on its way between a program and its clients. */

const RUNS = 3000;
const DEPTH_MAX = 1000;

const unpacked = (form: unknown, isStrict: boolean) => new Unpacker(pack(form), DEPTH_MAX, isStrict).next();

/** What a client sees of a value (docs/server.md): bytes without Node's own class, fields, errors by their names. */
function asClient(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(asClient);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [asClient(key), asClient(item)]));
  if (value instanceof Set) return new Set([...value].map(asClient));
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (value instanceof Date || value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value;
  const fields = Object.entries(value).map(([name, item]) => [name, asClient(item)] as const);
  if (!(value instanceof Error)) return Object.fromEntries(fields);
  const error = new Error(value.message);
  if (value.name !== "Error") Object.defineProperty(error, "name", { value: value.name });
  for (const [name, item] of fields.filter(([own]) => own !== "name")) {
    Object.defineProperty(error, name, { value: item, enumerable: true });
  }
  return error;
}

/** The fields of an error in any order: what is passed is what it says. */
function check(actual: () => unknown, value: unknown): void {
  let arrived: unknown;
  try {
    arrived = actual();
  } catch (error) {
    assert.ok(error instanceof HeadwaterError && error.code === "HW-4007", told(error));
    assert.match(error.message, REFUSABLE);
    return;
  }
  assert.equal(told(arrived), told(asClient(seen(value))));
}

/** What the rules of the outside refuse though contexts may hold it. */
const REFUSABLE = /a field named "(constructor|prototype)"|it is an instance of Money|beyond the numbers/;

test("any value arrives at a client as a result or a message, over a socket and over HTTP", () => {
  fc.assert(
    fc.property(storable, (value) => {
      check(() => fromForm(unpacked(toForm(seen(value), false), false)), value);
      check(() => parseJson(Buffer.from(toJson(seen(value))), DEPTH_MAX), value);
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

test("any value arrives at a program as an argument, or is refused with what it is that cannot be passed", () => {
  fc.assert(
    fc.property(storable, (value) => {
      check(() => fromForm(unpacked(toForm(seen(value), true), true)), value);
      check(() => parseJson(Buffer.from(formJson(toForm(seen(value), true))), DEPTH_MAX), value);
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

test("whatever is thrown arrives with its text and its fields", () => {
  fc.assert(
    fc.property(storable, (value) => {
      const thrown = seen(value);
      const arrived = errorOfForm(unpacked(failureForm(thrown), false));
      const expected = asClient(thrown instanceof Error ? thrown : new Error(shownThrown(thrown)));
      assert.equal(told(arrived), told(expected));
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

function shownThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "something that cannot be shown was thrown";
  }
}

test("names that are forbidden, said twice or need no tag cannot be said with one either", () => {
  const wrong = [
    { $fields: [['"__proto__"', 1]] },
    { $fields: [['"constructor"', 1]] },
    { $fields: [{ a: 1 }, { a: 2 }] },
    {
      $fields: [
        ['"\\ud800"', 1],
        ['"\\ud800"', 2],
      ],
    },
    { $fields: [[null, 1]] },
    { $fields: ["a"] },
    { $text: "5" },
    { $text: "{" },
    { $text: null },
  ];
  for (const form of wrong) assert.throws(() => fromForm(form), { code: "HW-4007" }, JSON.stringify(form));
  const hidden = Buffer.from('{"$fields": [{"constructor": 1}]}');
  assert.throws(() => parseJson(hidden, DEPTH_MAX), { code: "HW-4007" });
});

test("an instance of a registered class that is an argument is refused by name", () => {
  assert.throws(() => toForm(new Money(1), true), { code: "HW-4007", message: /instance of Money/ });
});
