import { HeadwaterError } from "../errors.js";

/**
 * The form in which plain data travels: what both JSON and MessagePack can say as it is, and for the rest an object
 * with a single field whose name begins with "$":
 *
 *     {"$undefined": true}                  {"$number": "NaN" | "Infinity" | "-Infinity" | "-0"}
 *     {"$bigint": "123"}                    {"$date": "2026-01-31T00:00:00.000Z" | "invalid"}
 *     {"$map": [[key, value], …]}           {"$set": [item, …]}
 *     {"$bytes": "base64"}                  {"$typed": ["Float64Array", bytes]}
 *     {"$error": {name, message, fields}}   {"$plain": {"$x": …}}: an object that looks like one of these
 *     {"$text": "\"\\ud800\""}                a text with half of a surrogate pair, as JSON, since UTF-8 cannot say it
 *     {"$fields": [{a: …}, ["\"\\ud800\"", …]]}  an object with such texts among the names of its fields
 *
 * Extension types of MessagePack would do the same for one of the two formats only, and a decoder that knows none
 * of them has nothing in it that a stranger could set off.
 */

type Form = unknown;
type Fields = Record<string, unknown>;

const ISO_DATE = /^(?:[+-]\d{6}|\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const SPECIAL_NUMBERS = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

type TypedClass = new (buffer: ArrayBuffer) => ArrayBufferView;
const TYPED = new Map<string, TypedClass>(
  [
    Int8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    DataView,
  ].map((cls) => [cls.name, cls as TypedClass]),
);

/** Names that objects inherit, or that lead to what they inherit. */
const FORBIDDEN_FIELDS = new Set(["__proto__", "constructor", "prototype"]);

const DEPTH_MAX = 500;

export function cannotTravel(why: string): HeadwaterError {
  return new HeadwaterError("HW-4007", `a value cannot be passed: ${why}.`);
}

/** From outside, none of the forbidden names is a field's; a program may have its reasons for all but `__proto__`. */
export function isForbiddenField(name: string, strict: boolean): boolean {
  return strict ? FORBIDDEN_FIELDS.has(name) : name === "__proto__";
}

export function forbiddenField(name: string): HeadwaterError {
  return cannotTravel(`an object has a field named "${name}"; use a Map for names that come from outside`);
}

/**
 * A value in the form in which it travels. `strict`: for arguments, which must arrive as they are. Results and
 * messages have left the program already, so instances of registered classes leave as their fields.
 */
export function toForm(value: unknown, strict: boolean, depth = 0): Form {
  switch (typeof value) {
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "string":
      return value.isWellFormed() ? value : { $text: JSON.stringify(value) };
    case "undefined":
      return { $undefined: true };
    case "bigint":
      return { $bigint: String(value) };
    case "object":
      return value === null ? null : formOfObject(value, strict, depth);
    default:
      throw cannotTravel(`it is a ${typeof value}. Pass plain data`);
  }
}

function formOfObject(value: object, strict: boolean, depth: number): Form {
  if (depth > DEPTH_MAX) throw cannotTravel("it is nested too deep, or contains itself");
  const below = (item: unknown) => toForm(item, strict, depth + 1);
  if (Array.isArray(value)) return value.map(below);
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (value instanceof Map) return { $map: [...value].map(([key, item]) => [below(key), below(item)]) };
  if (value instanceof Set) return { $set: [...value].map(below) };
  if (value instanceof Date)
    return { $date: Number.isNaN(value.getTime()) ? "invalid" : value.toISOString() };
  if (value instanceof ArrayBuffer) return { $typed: ["ArrayBuffer", new Uint8Array(value.slice(0))] };
  if (ArrayBuffer.isView(value)) {
    const bytes = value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
    return { $typed: [value.constructor.name, new Uint8Array(bytes)] };
  }
  if (value instanceof Error) return { $error: errorForm(value, strict, depth) };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (strict && prototype !== Object.prototype && prototype !== null) {
    throw cannotTravel(`it is an instance of ${value.constructor?.name || "a class"}. Pass plain data`);
  }
  return fieldsForm(Object.entries(value), strict, depth);
}

/** An object that would be taken for one of the tags gets a tag of its own. */
function fieldsForm(entries: readonly (readonly [string, unknown])[], strict: boolean, depth: number): Form {
  const fields: Fields = {};
  for (const [name, item] of entries) {
    if (isForbiddenField(name, strict)) throw forbiddenField(name);
    if (!name.isWellFormed()) return partsForm(entries, strict, depth);
    fields[name] = toForm(item, strict, depth + 1);
  }
  const [first, second] = Object.keys(fields);
  return second === undefined && first?.startsWith("$") ? { $plain: fields } : fields;
}

/** Only names that UTF-8 cannot say are written as values: all others are looked at as names wherever forms are read. */
function partsForm(entries: readonly (readonly [string, unknown])[], strict: boolean, depth: number): Form {
  const parts: (Fields | [string, Form])[] = [];
  for (const [name, item] of entries) {
    if (isForbiddenField(name, strict)) throw forbiddenField(name);
    const form = toForm(item, strict, depth + 1);
    const last = parts.at(-1);
    if (!name.isWellFormed()) parts.push([JSON.stringify(name), form]);
    else if (isFields(last)) last[name] = form;
    else parts.push({ [name]: form });
  }
  return { $fields: parts };
}

/** Name, text and the fields of an error, without its stack: that stays inside. */
export function errorForm(error: Error, strict: boolean, depth = 0): Fields {
  const own = Object.entries(error).filter(([name]) => !["name", "message", "stack", "cause"].includes(name));
  const [name, message] = [toForm(String(error.name), false), toForm(String(error.message), false)];
  return { name, message, fields: fieldsForm(own, strict, depth + 1) };
}

/**
 * The value that a form stands for. What it is made of was checked when it was decoded; this looks at the tags. The
 * form becomes the value and is not to be used any more.
 */
export function fromForm(form: Form): unknown {
  if (typeof form !== "object" || form === null || form instanceof Uint8Array) return form;
  if (Array.isArray(form)) return items(form);
  const fields = form as Fields;
  const [first, second] = Object.keys(fields);
  if (first?.startsWith("$") && second === undefined) return untagged(first, fields[first]);
  return values(fields);
}

function items(list: unknown[]): unknown[] {
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (typeof item === "object" && item !== null) list[i] = fromForm(item);
  }
  return list;
}

function values(fields: Fields): Fields {
  for (const name of Object.keys(fields)) {
    const item = fields[name];
    if (typeof item === "object" && item !== null) fields[name] = fromForm(item);
  }
  return fields;
}

function untagged(tag: string, content: Form): unknown {
  switch (tag) {
    case "$undefined":
      if (content === true) return undefined;
      break;
    case "$number":
      if (typeof content === "string" && SPECIAL_NUMBERS.has(content)) return SPECIAL_NUMBERS.get(content);
      break;
    case "$bigint":
      if (typeof content === "string" && /^-?\d{1,10000}$/.test(content)) return BigInt(content);
      break;
    case "$date":
      if (content === "invalid") return new Date(Number.NaN);
      if (typeof content === "string" && ISO_DATE.test(content)) return new Date(content);
      break;
    case "$bytes":
      if (typeof content === "string" && BASE64.test(content)) return bytesOf(content);
      break;
    case "$typed":
      return typed(fromForm(content));
    case "$set":
      if (Array.isArray(content)) return unrepeated(new Set(content.map(fromForm)), content.length);
      break;
    case "$map":
      if (Array.isArray(content) && content.every(isPair)) {
        const map = new Map(content.map(([key, item]) => [fromForm(key), fromForm(item)]));
        return unrepeated(map, content.length);
      }
      break;
    case "$error":
      if (isFields(content)) return errorOf(content);
      break;
    case "$text":
      if (typeof content === "string") return quotedText(content);
      break;
    case "$fields":
      if (Array.isArray(content) && content.every((part) => isPair(part) || isFields(part)))
        return fieldsOfParts(content);
      break;
    case "$plain":
      if (isFields(content)) return values(content);
      break;
  }
  throw cannotTravel(
    `an object has the single field ${JSON.stringify(tag.slice(0, 40))}, but not what belongs to it`,
  );
}

function quotedText(json: string): string {
  try {
    const text: unknown = JSON.parse(json);
    if (typeof text === "string") return text;
  } catch {
    // It is not JSON, which is said below.
  }
  throw cannotTravel("what stands for a text is not one in JSON");
}

function fieldsOfParts(parts: readonly (Fields | [unknown, unknown])[]): Fields {
  const entries = parts.flatMap((part): [string, unknown][] => {
    if (!Array.isArray(part)) return Object.entries(values(part));
    const name = typeof part[0] === "string" ? quotedText(part[0]) : "";
    if (name.isWellFormed()) throw cannotTravel("a name that UTF-8 can say is not said as one");
    return [[name, fromForm(part[1])]];
  });
  return Object.fromEntries(unrepeated(new Map(entries), entries.length));
}

function unrepeated<T extends { readonly size: number }>(collection: T, count: number): T {
  if (collection.size === count) return collection;
  throw cannotTravel("a Map, a Set or an object has the same key twice");
}

function isPair(item: unknown): item is [unknown, unknown] {
  return Array.isArray(item) && item.length === 2;
}

function isFields(content: unknown): content is Fields {
  if (typeof content !== "object" || content === null) return false;
  return !Array.isArray(content) && !(content instanceof Uint8Array);
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    throw cannotTravel("what stands for bytes is not Base64");
  }
}

function typed(content: unknown): unknown {
  const [name, bytes] = Array.isArray(content) ? (content as unknown[]) : [];
  if (typeof name !== "string" || !(bytes instanceof Uint8Array))
    throw cannotTravel("a typed array lacks its bytes");
  const buffer = new Uint8Array(bytes).buffer;
  if (name === "ArrayBuffer") return buffer;
  const Typed = TYPED.get(name);
  if (Typed === undefined)
    throw cannotTravel(`there is no typed array of the kind ${JSON.stringify(name.slice(0, 40))}`);
  try {
    return new Typed(buffer);
  } catch {
    throw cannotTravel(`${buffer.byteLength} bytes are not a whole number of items of a ${name}`);
  }
}

const ERROR_FIELDS_TAKEN = new Set(["name", "message", "stack", "cause"]);

/** The text that a form stands for; null if it is something else. */
export function textOf(form: Form): string | null {
  const text = fromForm(form);
  return typeof text === "string" ? text : null;
}

/** The error that a form of one stands for. */
export function errorOf({ name, message, fields }: Fields): Error {
  const error = new Error(textOf(message) ?? "");
  const ownName = textOf(name) ?? "Error";
  if (ownName !== "Error") {
    Object.defineProperty(error, "name", { value: ownName, configurable: true, writable: true });
  }
  for (const [field, value] of Object.entries(isFields(fields) ? (fromForm(fields) as Fields) : {})) {
    if (ERROR_FIELDS_TAKEN.has(field) || isForbiddenField(field, false)) continue;
    Object.defineProperty(error, field, {
      value,
      configurable: true,
      writable: true,
      enumerable: true,
    });
  }
  return error;
}
