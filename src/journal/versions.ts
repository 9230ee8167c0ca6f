import { createHash } from "node:crypto";
import type { KeyTable, Write } from "./journal.js";
import { compareKeys, KEY_BYTES_MAX } from "./keys.js";

/**
 * Old versions of values, as keys of the journal itself, so that they are written in the group that replaces them:
 *
 *     v/KEY NUL TICKET    what KEY had before the event with this ticket wrote it
 *
 * KEY as of a ticket is what the first later version says, or what it has now if there is none. A KEY that is too long is replaced by "#" and
 * its hash; the version then says itself which key it is of. A version is a byte, 1 for a value and 0 for none, the length of KEY if it
 * was replaced, and the value.
 */

const PREFIX = "v/";
const TICKET_DIGITS = 16;
/** The NUL and the ticket. */
const SUFFIX_LENGTH = 1 + TICKET_DIGITS;

export function digitsOf(ticket: number): string {
  return String(ticket).padStart(TICKET_DIGITS, "0");
}

/** What there is room for in the name of a version. */
const NAME_BYTES_MAX = KEY_BYTES_MAX - PREFIX.length - SUFFIX_LENGTH;

function isLong(key: string): boolean {
  return key.length * 3 > NAME_BYTES_MAX && Buffer.byteLength(key) > NAME_BYTES_MAX;
}

function nameOf(key: string): string {
  return isLong(key) ? `#${createHash("sha256").update(key).digest("base64url")}` : key;
}

/** Under which key a journal has what a key had before the event with this ticket wrote it. */
export function versionKey(key: string, ticket: number): string {
  return `${PREFIX}${nameOf(key)}\0${digitsOf(ticket)}`;
}

/** Keeps what a key had before the event with this ticket wrote it. */
export function versionWrite(key: string, ticket: number, before: Uint8Array | null): Write {
  const named = isLong(key) ? Buffer.from(key) : NOT_NAMED;
  const value = Buffer.allocUnsafe(3 + named.length + (before === null ? 0 : before.length));
  value[0] = before === null ? 0 : 1;
  value.writeUInt16LE(named.length, 1);
  value.set(named, 3);
  if (before !== null) value.set(before, 3 + named.length);
  return { key: versionKey(key, ticket), value };
}

const NOT_NAMED = new Uint8Array(0);

/** What a version says: the key that it is of, if its name does not say so, and the value. */
function read(bytes: Uint8Array): { readonly key: string | null; readonly value: Uint8Array | undefined } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 3 + buffer.readUInt16LE(1);
  return {
    key: end === 3 ? null : buffer.toString("utf8", 3, end),
    value: buffer[0] === 0 ? undefined : buffer.subarray(end),
  };
}

/** The keys and values of a journal as they were when an event had committed, and no later one of its logical node. */
export class TableAt implements KeyTable {
  constructor(
    readonly now: KeyTable,
    readonly ticket: number,
  ) {}

  get(key: string): Uint8Array | undefined {
    const prefix = `${PREFIX}${nameOf(key)}\0`;
    for (const [name, bytes] of this.now.range(prefix, prefix + digitsOf(this.ticket)))
      if (name.length === prefix.length + TICKET_DIGITS) return read(bytes).value;
    return this.now.get(key);
  }

  /** Looks at all keys with the prefix, those of today and those of the versions, before the first is given out. */
  *range(prefix: string, after = ""): Iterable<[key: string, value: Uint8Array]> {
    const keys = new Set<string>();
    for (const [key] of this.now.range(prefix)) keys.add(key);
    for (const [name] of this.now.range(PREFIX + prefix)) keys.add(name.slice(PREFIX.length, -SUFFIX_LENGTH));
    for (const [, bytes] of this.now.range(`${PREFIX}#`)) keys.add(read(bytes).key ?? prefix);
    for (const key of [...keys].sort(compareKeys)) {
      if (!key.startsWith(prefix) || (after !== "" && compareKeys(key, after) <= 0)) continue;
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }
}
