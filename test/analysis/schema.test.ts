import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { ROOT } from "../house/source.js";
import { AD_NETWORK, exampleNames, exampleText, WORDCOUNT } from "./dataflows.js";

/** The part of JSON schema that ours uses. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

const KEYWORDS = [
  "$ref",
  "type",
  "enum",
  "properties",
  "additionalProperties",
  "required",
  "items",
  "minItems",
  "minLength",
  "anyOf",
  "allOf",
];
const NOT_CHECKED = ["$schema", "$defs", "title", "description"];

const schema = JSON.parse(readFileSync(join(ROOT, "docs", "analysis.schema.json"), "utf8")) as Schema;

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function fits(value: unknown, against: Schema): boolean {
  const unknown = Object.keys(against).filter((key) => !KEYWORDS.includes(key) && !NOT_CHECKED.includes(key));
  assert.deepEqual(unknown, [], "the check knows every keyword of the schema");
  const { $ref, type, anyOf, allOf, minItems = 0, minLength = 0 } = against;
  if ($ref !== undefined) {
    const target = schema.$defs?.[$ref.replace("#/$defs/", "")];
    assert.ok(target, $ref);
    if (!fits(value, target)) return false;
  }
  if (type !== undefined && ![type].flat().includes(typeOf(value))) return false;
  if (against.enum !== undefined && !against.enum.includes(value)) return false;
  if (anyOf !== undefined && !anyOf.some((each) => fits(value, each))) return false;
  if (allOf !== undefined && !allOf.every((each) => fits(value, each))) return false;
  if (typeof value === "string" && value.length < minLength) return false;
  if (Array.isArray(value)) {
    const { items } = against;
    return value.length >= minItems && (items === undefined || value.every((each) => fits(each, items)));
  }
  if (typeOf(value) !== "object") return true;
  const { properties = {}, additionalProperties, required = [] } = against;
  if (required.some((key) => !Object.hasOwn(value as object, key))) return false;
  return Object.entries(value as object).every(([key, each]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    return property === undefined || (property !== false && fits(each, property));
  });
}

describe("the schema for editors", () => {
  for (const name of exampleNames()) {
    test(`takes examples/analysis/${name}.yaml`, () => {
      assert.equal(fits(parse(exampleText(name)), schema), true);
    });
  }
  test("takes the files of the paper", () => {
    assert.equal(fits(parse(WORDCOUNT), schema), true);
    assert.equal(fits(parse(AD_NETWORK), schema), true);
  });
  for (const [what, text] of [
    ["an unknown annotation", "A: { annotation: { from: a, to: b, label: X } }"],
    ["a misspelt key of a path", "A: { annotation: { from: a, to: b, label: CR, subscrip: [k] } }"],
    ["a misspelt key of a stream", "streams: { s: { seel: [k] } }"],
    ["a stream of a list without a name", "streams: [{ to: A.in }]"],
    ["an acceptance without a reason", "accept: [{ stream: s }]"],
    ["an empty seal", "streams: { s: { seal: [] } }"],
    ["half a dependency", "dependencies: [{ from: a }]"],
  ] as const) {
    test(`refuses ${what}`, () => {
      assert.equal(fits(parse(text), schema), false);
    });
  }
});
