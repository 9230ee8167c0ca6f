import { Tracked, type TrackedList, type TrackedMap, type TrackedSet } from "../../model/collections.js";
import type { Key } from "../../model/key.js";
import { tracked } from "../../model/tracked.js";
import { dressed, dressedKey } from "./odd-values.js";
import type { GeneratedFieldKind, KeyStyle } from "./program.js";

/** The data of generated programs: what fields hold, how it changes, and what a method makes of what it sees. */

const MODULUS = 997;

export function initialValue(kind: GeneratedFieldKind): unknown {
  switch (kind) {
    case "number":
      return 1;
    case "list":
      return [];
    case "map":
      return new Map();
    case "set":
      return new Set();
    case "record":
      return { n: 0, tags: [], bytes: Buffer.of(0), odd: null };
    case "timer":
      return "";
    case "tlist":
      return tracked.list();
    case "tmap":
      return tracked.map();
    case "tset":
      return tracked.set();
  }
}

/** What most items of a tracked list are: the number tells it from all others that the list may have held. */
interface Item {
  readonly n: number;
  readonly value: unknown;
}

export function change(
  self: Record<string, unknown>,
  field: string,
  kind: GeneratedFieldKind | undefined,
  drop: boolean,
  value: number,
): undefined {
  const held = self[field];
  if (kind === "tlist") return changeList(held as TrackedList<unknown> | unknown[], drop, value);
  if (kind === "tmap") return changeMap(held as TrackedMap<number, unknown>, drop, value);
  if (kind === "tset") return changeSet(held as TrackedSet<string>, drop, value);
  if (typeof held === "number") self[field] = drop ? value : mix(held, value);
  else if (Array.isArray(held)) drop ? held.pop() : held.push(dressed(value)) > 5 && held.shift();
  else if (held instanceof Map) drop ? held.delete(value % 4) : held.set(value % 4, dressed(value));
  else if (held instanceof Set) drop ? held.delete(value % 5) : held.add(value % 5);
  else if (typeof held === "object" && held !== null) {
    const record = held as { n: number; tags: string[]; bytes: Buffer; odd: unknown };
    record.n = drop ? 0 : mix(record.n, value);
    record.odd = dressed(value);
    record.bytes = Buffer.from([...record.bytes, value % 256].slice(drop ? -1 : -3));
    if (drop) record.tags = [];
    else if (record.tags.length < 4) record.tags.push(`t${value % 5}`);
  }
  return undefined;
}

/** The sequential runner has a plain array here. */
function changeList(list: TrackedList<unknown> | unknown[], drop: boolean, value: number): undefined {
  const { length } = list;
  if (drop) void (value % 3 === 0 && length > 1 ? list.shift() : list.pop());
  else if (value % 7 === 0) list.push(dressed(value));
  else if (value % 5 === 0) list.unshift(item(numberOf(list.at(0)) - 1, value));
  else if (value % 5 === 1 && length > 2)
    list.splice(value % length, value % 2, item(highest(list) + 1, value));
  else list.push(item(numberOf(list.at(-1)) + 1, value));
  if (list.length > 5) list.shift();
}

function item(n: number, value: number): Item {
  return { n, value: dressed(value) };
}

function numberOf(found: unknown): number {
  return typeof found === "object" && found !== null && "n" in found && typeof found.n === "number"
    ? found.n
    : 0;
}

function highest(list: Iterable<unknown>): number {
  return Math.max(...[...list].map(numberOf));
}

/** Entries are added, changed, taken out, and taken out and put in again. */
function changeMap(
  map: Pick<TrackedMap<number, unknown>, "delete" | "set" | "clear">,
  drop: boolean,
  value: number,
): undefined {
  const key = dressedKey(value, value % 4);
  if (drop && value % 11 === 0) map.clear();
  else if (drop || value % 3 === 0) map.delete(key);
  if (!drop) map.set(key, value % 2 === 0 ? dressed(value % 7) : { value: [dressed(value)] });
}

function changeSet(set: Pick<TrackedSet<string>, "delete" | "add">, drop: boolean, value: number): undefined {
  const member = dressedKey(value, `i${value % 5}`);
  if (drop || value % 3 === 0) set.delete(member);
  if (!drop) set.add(member);
}

/** A tracked collection as the plain one that it stands for; anything else as it is. */
export function plain(value: unknown): unknown {
  return value instanceof Tracked ? value.plain() : value;
}

export function keyOf(style: KeyStyle, n: number): Key | undefined {
  if (style === null) return undefined;
  return style === "number" ? n : style === "text" ? textKey(n) : [n, n + 1];
}

/** Keys that become the same where halves of surrogate pairs are lost. */
function textKey(n: number): string {
  return n === 0 ? "k0" : `k${String.fromCharCode(0xd800 + n)}`;
}

export function mix(acc: number, value: number): number {
  return (acc * 31 + value + 7) % MODULUS;
}

/** One number for any value, so that two values that differ are unlikely to look alike. */
export function digest(value: unknown): number {
  if (typeof value === "number") return Number.isInteger(value) && value !== 0 ? value : digestOdd(value);
  if (value instanceof Tracked) return digest(value.plain());
  if (value instanceof Uint8Array) return digest(value.toString()); // which is another one for a Buffer
  let sum = 3;
  if (typeof value === "string") {
    for (let i = 0; i < value.length; i++) sum = mix(sum, value.charCodeAt(i));
  } else if (value instanceof Map) {
    for (const [key, item] of value) sum = mix(mix(sum, digest(key)), digest(item));
  } else if (Array.isArray(value) || value instanceof Set) {
    for (const item of value) sum = mix(sum, digest(item));
  } else if (typeof value === "object" && value !== null) {
    if (value instanceof Date || value instanceof Error) sum = digest(String(value));
    for (const name in value) sum = mix(sum, digest((value as Record<string, unknown>)[name]));
  } else sum = digestOdd(value);
  return sum;
}

/** Of simple values that are no whole numbers, and of both zeros. */
function digestOdd(value: unknown): number {
  if (value === 0) return Object.is(value, -0) ? 11 : 0;
  return digest(`${typeof value} ${String(value)}`);
}
