import { createHash } from "node:crypto";
import { KEY_BYTES_MAX } from "../../journal/keys.js";
import type { Address } from "../../model/address.js";
import type { TrackedKey } from "../../model/collections.js";
import { keyFrom, showKey } from "../../model/key.js";
import type { Step } from "../../model/path.js";

/**
 * The keys under which a journal has the states of contexts. Different contexts, fields and entries have different
 * keys, whatever they are named:
 *
 *     c/NODE/ADDRESS                        plain fields
 *     d/NODE/ADDRESS NUL FIELD NUL ENTRY    one entry of a tracked collection
 *     d/NODE/ADDRESS NUL @ NUL ENTRY        when one timer of the context is due
 *     d/NODE/ADDRESS NUL FIELD NUL          a large plain field
 *     l/NODE/ADDRESS NUL #HASH              a context below with a name that is too long: its path
 *     s/CLASS                               the fields of a class
 *
 * Names that are no identifiers are written in quotes, so NUL, "/", "#" and "." mean what they mean here. What is too
 * long for a journal, or has no UTF-8, is replaced by "#" and its SHA-256.
 */

export const NAME_BYTES_MAX = 1200;
const FIELD_BYTES_MAX = 200;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The part of its keys that all contexts differ in. */
export function contextName(address: Address): string {
  return shortened(`${quoted(address.node)}/${written(address)}`, NAME_BYTES_MAX);
}

/** The same of the root of a logical node, by the names of the node and of its root class. */
export function rootContextName(node: string, root: string): string {
  return shortened(`${quoted(node)}/${quoted(root)}`, NAME_BYTES_MAX);
}

/** What the keys of all contexts of a logical node begin with, apart from contexts whose names are too long. */
export function prefixesOfNode(node: string): {
  readonly main: string;
  readonly parts: string;
  readonly paths: string;
} {
  const names = `${quoted(node)}/`;
  return { main: `c/${names}`, parts: `d/${names}`, paths: `l/${names}` };
}

export function mainKey(name: string): string {
  return `c/${name}`;
}

/** What the main keys of all contexts below one begin with; null if its own name is too long for that. */
export function belowPrefix(name: string): string | null {
  return isLong(name) ? null : `${mainKey(name)}.`;
}

/** What the main keys of the children in a field, and of all below them, begin with. */
export function childrenPrefix(name: string, field: string): string | null {
  return isLong(name) ? null : `${mainKey(name)}.${quoted(field)}(`;
}

/** Was a name replaced, so that its key does not begin with that of the context above? */
export function isLong(name: string): boolean {
  return name.startsWith("#");
}

/** What the keys begin with under which a journal has the paths of contexts below one whose names are too long. */
export function longPrefix(name: string): string {
  return `l/${name}\0`;
}

/** Where a journal has the path of a context, for each context above it; nowhere if its name is not too long. */
export function* longKeys(address: Address, name: string): Iterable<string> {
  if (!isLong(name)) return;
  for (let above = address.parent; above !== null; above = above.parent)
    yield `${longPrefix(contextName(above))}${name}`;
}

const STEP =
  /\.([\p{ID_Start}$_][\p{ID_Continue}$]*|"(?:[^"\\]|\\.)*")(?:\(((?:"(?:[^"\\]|\\.)*"|[^"()])*)\))?/uy;

/** The steps that stand behind the name of a context in the name of one below it. */
export function stepsIn(text: string): Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const [, field = "", keys] = STEP.exec(text) ?? [];
    if (field === "") return [];
    const name = field.startsWith('"') ? (JSON.parse(field) as string) : field;
    steps.push(
      keys === undefined ? { field: name } : { field: name, key: keyFrom(JSON.parse(`[${keys}]`), name) },
    );
  }
  return steps;
}

export function shapeKey(cls: string): string {
  return `s/${shortened(quoted(cls), NAME_BYTES_MAX)}`;
}

/** What all keys of a context begin with, apart from the main one. */
export function partsPrefix(name: string): string {
  return `d/${name}\0`;
}

/** No name of a field is written like this. */
const TIMERS = "@";

/** What the keys of a context's timers begin with. */
export function timersPrefix(name: string): string {
  return `${partsPrefix(name)}${TIMERS}\0`;
}

export function fieldPrefix(name: string, field: string): string {
  return `${partsPrefix(name)}${shortened(quoted(field), FIELD_BYTES_MAX)}\0`;
}

/** The `fieldPrefix` that a key of a context with this name begins with. */
export function prefixIn(key: string, name: string): string {
  return key.slice(0, key.indexOf("\0", partsPrefix(name).length) + 1);
}

/** The name of the context that a key is of, if it is a key of a context. */
export function contextNameIn(key: string): string | null {
  if (key.startsWith("c/")) return key.slice(2);
  return key.startsWith("d/") ? key.slice(2, key.indexOf("\0")) : null;
}

/** The key of an entry. If `isHashed`, the entry cannot be told from its key. */
export function entryKey(prefix: string, key: TrackedKey): string {
  const text = `${typeof key === "string" ? "s" : typeof key === "number" ? "n" : typeof key === "bigint" ? "i" : "b"}${key}`;
  const whole = prefix + text;
  if (whole.length * 3 > KEY_BYTES_MAX && Buffer.byteLength(whole) > KEY_BYTES_MAX)
    return prefix + hash(text);
  return typeof key === "string" && LONE_SURROGATE.test(key) ? prefix + hash(text) : whole;
}

/** Is an entry's key such that the entry must say itself which one it is? */
export function isHashed(prefix: string, key: string): boolean {
  return key[prefix.length] === "#";
}

/** The entry that a key is of. */
export function entryOf(prefix: string, key: string): TrackedKey {
  const text = key.slice(prefix.length + 1);
  switch (key[prefix.length]) {
    case "n":
      return Number(text);
    case "i":
      return BigInt(text);
    case "b":
      return text === "true";
    default:
      return text;
  }
}

/** As `String(address)`, with names in quotes where they could be taken for something else. */
function written(address: Address): string {
  if (address.parent === null || address.slot === null) return quoted(address.shape.name);
  const key = address.key === undefined ? "" : `(${showKey(address.key)})`;
  return `${written(address.parent)}.${quoted(address.slot.field)}${key}`;
}

/** JSON has escapes for everything that is not well-formed Unicode, and for NUL. */
function quoted(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** A name as a part of a key. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** So that the order of keys is the order of numbers. */
export function digits(count: number | string): string {
  return String(count).padStart(16, "0");
}

/** A text that fits into a key, itself if it does. Different texts stay different. */
export function shortened(text: string, bytesMax: number): string {
  const isLong = text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax;
  return isLong || text.startsWith("#") || LONE_SURROGATE.test(text) ? hash(text) : text;
}

function hash(text: string): string {
  return `#${createHash("sha256").update(Buffer.from(text, "utf16le")).digest("base64url")}`;
}
