import type { Scalar } from "../ast.js";
import { canonicalJson, joinJson, jsonMember } from "../values/json.js";
import { builtins, RowError } from "./builtin.js";

type Path = readonly Scalar[];

/** JSON values are texts; those of `jsonb` are in PostgreSQL's own form, in which equal values are equal texts. */
export const JSON_BUILTINS = builtins({
  "|| : jsonb jsonb -> jsonb": (a: string, b: string) => joinJson(a, b),
  "-> : json text -> json?": (json: string, key: string) => asJson(jsonMember(json, key, "json")),
  "-> : json int4 -> json?": (json: string, key: number) => asJson(jsonMember(json, key, "json")),
  "-> : jsonb text -> jsonb?": (json: string, key: string) => asJsonb(jsonMember(json, key, "jsonb")),
  "-> : jsonb int4 -> jsonb?": (json: string, key: number) => asJsonb(jsonMember(json, key, "jsonb")),
  "->> : json text -> text?": (json: string, key: string) => asText(jsonMember(json, key, "json"), false),
  "->> : json int4 -> text?": (json: string, key: number) => asText(jsonMember(json, key, "json"), false),
  "->> : jsonb text -> text?": (json: string, key: string) => asText(jsonMember(json, key, "jsonb"), true),
  "->> : jsonb int4 -> text?": (json: string, key: number) => asText(jsonMember(json, key, "jsonb"), true),
  "#> : jsonb text[] -> jsonb?": (json: string, path: Path) => asJsonb(along(json, path)),
  "#>> : jsonb text[] -> text?": (json: string, path: Path) => asText(along(json, path), true),
  "@> : jsonb jsonb -> bool": (whole: string, part: string) =>
    contains(JSON.parse(whole), JSON.parse(part), true),
  "<@ : jsonb jsonb -> bool": (part: string, whole: string) =>
    contains(JSON.parse(whole), JSON.parse(part), true),
  "? : jsonb text -> bool": (json: string, key: string) => hasKey(JSON.parse(json), key),
  "jsonb_typeof : jsonb -> text": (json: string) => typeName(JSON.parse(json)),
  "json_typeof : json -> text": (json: string) => typeName(JSON.parse(json)),
  "jsonb_array_length : jsonb -> int4": lengthOf,
  "json_array_length : json -> int4": lengthOf,
  "to_jsonb : text -> jsonb": (text: string) => JSON.stringify(text),
  "to_jsonb : int8 -> jsonb": (value: number) => JSON.stringify(value),
  "to_jsonb : float8 -> jsonb": (value: number) => JSON.stringify(value),
  "to_jsonb : bool -> jsonb": (value: boolean) => JSON.stringify(value),
});

function asJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function asJsonb(value: unknown): string | null {
  return value === undefined ? null : canonicalJson(value);
}

/** A text without its quotes; NULL if it is missing, and for a JSON null. */
function asText(value: unknown, isBinary: boolean): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  return isBinary ? canonicalJson(value) : JSON.stringify(value);
}

/** `'{a,0}'`: member a, then element 0. */
function along(json: string, path: Path): unknown {
  let value: unknown = JSON.parse(json);
  for (const step of path) {
    if (typeof value !== "object" || value === null || step === null) return undefined;
    const key = String(step);
    if (!Array.isArray(value))
      value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    else value = /^-?\d+$/.test(key) ? value.at(Number(key)) : undefined;
  }
  return value;
}

/** Members and elements of the part are in the whole; a value that is no array is in an array at the top only. */
function contains(whole: unknown, part: unknown, isTop: boolean): boolean {
  if (Array.isArray(whole) && Array.isArray(part))
    return part.every((each) => whole.some((own) => contains(own, each, false)));
  if (Array.isArray(whole) && isTop && (typeof part !== "object" || part === null))
    return whole.includes(part);
  if (Array.isArray(whole) || Array.isArray(part)) return false;
  if (typeof whole !== "object" || whole === null || typeof part !== "object" || part === null)
    return whole === part;
  return Object.entries(part).every(
    ([key, each]) =>
      Object.hasOwn(whole, key) && contains((whole as Record<string, unknown>)[key], each, false),
  );
}

function hasKey(value: unknown, key: string): boolean {
  if (Array.isArray(value)) return value.includes(key);
  if (typeof value === "object" && value !== null) return Object.hasOwn(value, key);
  return value === key;
}

function typeName(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function lengthOf(json: string): number {
  const value: unknown = JSON.parse(json);
  if (!Array.isArray(value)) throw new RowError("22023", "cannot get array length of a non-array");
  return value.length;
}
