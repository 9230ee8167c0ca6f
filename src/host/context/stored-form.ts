import type { TrackedKey, TrackedKind } from "../../model/collections.js";
import type { Shape } from "../../model/shape.js";
import { decodeItems, encode } from "../../state/codec.js";
import { unreadable } from "../../state/codec-check.js";
import { ValueWriter } from "../../state/codec-writer.js";
import type { State } from "../../state/fields.js";
import type { Content } from "../../state/tracked-content.js";
import { own, peek, Unread } from "../../state/tracked-values.js";
import { Version } from "../../state/tracked-version.js";
import { versionOf } from "./class-versions.js";
import { entryKey, entryOf, isHashed, ownedEntryOf, ownedKey } from "./stored-keys.js";

/**
 * The bytes of states. The main value of a context is
 *
 *     [version, names of fields, ...values of fields, null or [[], fields apart]]
 *
 * with names, so that it can be read by a class that has others. Fields apart have keys of their own: tracked
 * collections, one for each entry, and plain fields that are large. The list of them is flat: index, kind, index, kind. The
 * index behind that of the last field stands for the armed timers, a map. Earlier versions had a list of their names in
 * place of the empty one.
 */

/** A plain field beyond this is not written again when another one changes. */
const APART_BYTES_MIN = 1024;

const APART_KINDS = ["map", "set", "list", "plain", "owned"] as const;
export type ApartKind = TrackedKind | "plain";

/** Values that are known to be large. Values in states do not change. */
const large = new WeakSet<object>();

/** Does a value have a key of its own? Says so of values that were encoded or decoded before. */
export function isApart(value: unknown): boolean {
  if (typeof value === "string") return value.length > APART_BYTES_MIN;
  return typeof value === "object" && value !== null && (value instanceof Version || large.has(value));
}

export function keepApart(value: unknown): void {
  if (typeof value === "object" && value !== null) large.add(value);
}

/** A value of a plain field as bytes if it is a composed or a long one, and then known to be large or not. */
export function encodedIfLong(value: unknown): Uint8Array | null {
  if (typeof value === "string") return isApart(value) ? encode(value) : null;
  if (typeof value !== "object" || value === null) return null;
  const bytes = encode(value);
  if (bytes.length > APART_BYTES_MIN) large.add(value);
  return bytes;
}

/** How the states of one class are written. */
export class Form {
  readonly #fields: number;
  readonly #writer: ValueWriter;
  readonly #ready: { value: unknown; bytes: Uint8Array | null }[];

  constructor(shape: Shape) {
    const { fields, cls } = shape;
    this.#fields = fields.length;
    this.#ready = fields.map(() => ({ value: null, bytes: null }));
    const start = [arrayOf(fields.length + 3), encode(versionOf(cls)), encode(fields)];
    this.#writer = new ValueWriter(Buffer.concat(start));
  }

  /** Keeps an encoding that was made to see how long it is, for the main value that is written next. */
  keepReady(field: number, value: unknown, bytes: Uint8Array | null): void {
    const ready = this.#ready[field] as { value: unknown; bytes: Uint8Array | null };
    ready.value = value;
    ready.bytes = bytes;
  }

  /** The main value of a state. Values that are not known to be apart are in it, however large. */
  main(state: State): Uint8Array {
    const writer = this.#writer;
    let apart: number[] | null = null;
    writer.begin();
    for (let i = 0; i < this.#fields; i++) {
      const value = state[i];
      if (isApart(value)) {
        const kind = value instanceof Version ? value.kind : "plain";
        apart ??= [];
        apart.push(i, APART_KINDS.indexOf(kind));
        writer.value(null);
      } else if (typeof value === "object") {
        this.#object(i, value);
      } else {
        writer.value(value);
      }
    }
    if (state.length > this.#fields) {
      apart ??= [];
      apart.push(this.#fields, APART_KINDS.indexOf("map"));
    }
    writer.value(apart === null ? null : [NONE, apart]);
    return writer.end();
  }

  /** The fields of a state, with nothing apart, for display: without timers. */
  whole(state: State): Uint8Array {
    this.#writer.begin();
    for (let i = 0; i < this.#fields; i++) this.#writer.value(state[i]);
    this.#writer.value(null);
    return this.#writer.end();
  }

  #object(field: number, value: object | null): void {
    const { value: known, bytes } = this.#ready[field] as { value: unknown; bytes: Uint8Array | null };
    if (bytes !== null && known === value) this.#writer.raw(bytes);
    else this.#writer.value(value);
    if (bytes !== null) this.keepReady(field, null, null);
  }
}

const NONE: readonly never[] = [];

function arrayOf(length: number): Uint8Array {
  return Uint8Array.of(0xdc, length >> 8, length & 0xff);
}

/** What a main value says. */
export interface Main {
  readonly version: number;
  readonly names: readonly string[];
  readonly values: unknown[];
  /** Does it name armed timers itself, as an earlier version had it? */
  readonly namesTimers: boolean;
  readonly apart: readonly (readonly [index: number, kind: ApartKind])[];
}

export function readMain(bytes: Uint8Array): Main {
  const items = decodeItems(bytes);
  const [version, names] = items;
  if (typeof version !== "number" || !Array.isArray(names) || items.length !== names.length + 3)
    throw unreadable("the state of a context is incomplete");
  const [armed, flat] = (items.at(-1) ?? [[], []]) as unknown[];
  if (!Array.isArray(armed) || !Array.isArray(flat) || flat.length % 2 !== 0)
    throw unreadable("the state of a context does not say where its fields are");
  const apart: [number, ApartKind][] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const kind = APART_KINDS[flat[i + 1] as number];
    if (kind === undefined) throw unreadable("a field of a context is of an unknown kind");
    apart.push([flat[i] as number, kind]);
  }
  const namesTimers = armed.length > 0;
  if (namesTimers) apart.push([names.length, "map"]);
  return { version, names: names as string[], values: items.slice(2, -1), namesTimers, apart };
}

const entries = new ValueWriter(new Uint8Array(0));

/** An entry of a tracked collection: its key, and its bytes. The key of a list's item is its position. */
export function writtenEntry(kind: TrackedKind, prefix: string, content: Content): WrittenEntry {
  if (kind === "owned") return { key: ownedKey(prefix, content.key), value: content.value as Uint8Array };
  return { key: write(kind, prefix, content), value: entries.end() };
}

/** The key under which an entry is, for removing it. */
export function keyOfEntry(kind: TrackedKind, prefix: string, key: TrackedKey): string {
  return kind === "owned" ? ownedKey(prefix, key) : entryKey(prefix, key);
}

/** The same of a value as it is kept, for callers that are done with it before the next entry is written. */
export function shownEntry(
  kind: TrackedKind,
  prefix: string,
  { key, sequence, value }: Content,
): WrittenEntry {
  if (kind === "owned") return writtenEntry(kind, prefix, { key, sequence, value });
  const entry = value instanceof Unread ? value.entry : null;
  if (entry !== null) return { key: entryKey(prefix, key), value: entry };
  return { key: write(kind, prefix, { key, sequence, value: peek(value) }), value: entries.show() };
}

interface WrittenEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Returns its key. */
function write(kind: TrackedKind, prefix: string, { key, sequence, value }: Content): string {
  const at = entryKey(prefix, key);
  const hashed = isHashed(prefix, at);
  entries.begin();
  entries.array((kind === "map" ? 2 : 1) + (hashed ? 1 : 0));
  if (kind !== "list") entries.value(sequence);
  if (kind !== "set") entries.value(value);
  if (hashed) entries.value(key);
  return at;
}

/**
 * An entry with its value as it is kept. From `unreadBytes` on, bytes stay the value until an event reads it: they must
 * not change any more.
 */
export function keptEntry(
  kind: TrackedKind,
  prefix: string,
  key: string,
  bytes: Uint8Array,
  unreadBytes: number,
): Content {
  if (kind === "owned") return readEntry(kind, prefix, key, bytes);
  const isLong = kind !== "set" && bytes.length >= unreadBytes && !isHashed(prefix, key);
  const sequence = isLong ? sequenceIn(kind, prefix, key, bytes) : null;
  if (sequence !== null) {
    const value = new Unread(bytes, kind === "list" ? itemIn : valueIn);
    return { key: entryOf(prefix, key), sequence, value };
  }
  const content = readEntry(kind, prefix, key, bytes);
  return { key: content.key, sequence: content.sequence, value: own(content.value) };
}

const itemIn = (bytes: Uint8Array) => decodeItems(bytes)[0];
const valueIn = (bytes: Uint8Array) => decodeItems(bytes)[1];

/** Found without reading what comes behind it; null if it is not a number as most are. */
function sequenceIn(kind: TrackedKind, prefix: string, key: string, bytes: Uint8Array): number | null {
  if (kind === "list") return Number(entryOf(prefix, key));
  if (((bytes[0] as number) & 0xf0) !== 0x90) return null;
  const first = bytes[1] as number;
  if (first < 0x80) return first;
  if (first < 0xcc || first > 0xce) return null;
  let number = 0;
  for (let i = 0; i < 1 << (first - 0xcc); i++) number = number * 0x100 + (bytes[2 + i] as number);
  return number;
}

export function readEntry(kind: TrackedKind, prefix: string, key: string, bytes: Uint8Array): Content {
  if (kind === "owned") return { key: ownedEntryOf(prefix, key), sequence: 0, value: bytes };
  const items = decodeItems(bytes);
  if (items.length < (kind === "map" ? 2 : 1))
    throw unreadable("an entry of a tracked collection is incomplete");
  const entry = (isHashed(prefix, key) ? items.at(-1) : entryOf(prefix, key)) as TrackedKey;
  if (kind === "list") return { key: entry, sequence: Number(entry), value: items[0] };
  return { key: entry, sequence: Number(items[0]), value: kind === "set" ? undefined : items[1] };
}
