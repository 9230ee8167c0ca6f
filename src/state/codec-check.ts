import { HeadwaterError } from "../errors.js";

/**
 * Looks through MessagePack before it is read. Readers of MessagePack do more than our bytes ever ask for (records
 * that are turned into code, regular expressions, references); this lets through only what `encode` writes: null,
 * booleans, numbers of at most 64 bits, strings, binary data, arrays, and maps whose keys are strings.
 */

/** Plain data is at most 200 deep; what is written around it, a little more. Each special value counts twice. */
const DEPTH_MAX = 1000;

export function unreadable(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-1107",
    `These bytes are not data that Headwater has written: ${why}. Nothing was read from them.`,
  );
}

export function checkBytes(bytes: Uint8Array): void {
  const end = skip(bytes, 0, 0);
  if (end !== bytes.length) {
    throw unreadable(
      end > bytes.length ? "they end too early" : `they go on after the data, ${bytes.length - end} bytes`,
    );
  }
}

/** Where the value that begins at `at` ends. May be beyond the end of the bytes. */
function skip(bytes: Uint8Array, at: number, depth: number): number {
  const token = bytes[at];
  if (token === undefined) throw unreadable("they end too early");
  if (token < 0x80 || token >= 0xe0) return at + 1;
  if (token < 0x90) return skipMap(bytes, at + 1, token & 0x0f, depth);
  if (token < 0xa0) return skipItems(bytes, at + 1, token & 0x0f, depth);
  if (token < 0xc0) return at + 1 + (token & 0x1f);
  switch (token) {
    case 0xc0: // null
    case 0xc2: // false
    case 0xc3: // true
      return at + 1;
    case 0xc4: // binary
    case 0xd9: // string
      return at + 2 + number(bytes, at + 1, 1);
    case 0xc5:
    case 0xda:
      return at + 3 + number(bytes, at + 1, 2);
    case 0xc6:
    case 0xdb:
      return at + 5 + number(bytes, at + 1, 4);
    case 0xcc: // numbers
    case 0xd0:
      return at + 2;
    case 0xcd:
    case 0xd1:
      return at + 3;
    case 0xca:
    case 0xce:
    case 0xd2:
      return at + 5;
    case 0xcb:
      return at + 9;
    case 0xdc: // arrays
      return skipItems(bytes, at + 3, number(bytes, at + 1, 2), depth);
    case 0xdd:
      return skipItems(bytes, at + 5, number(bytes, at + 1, 4), depth);
    case 0xde: // maps
      return skipMap(bytes, at + 3, number(bytes, at + 1, 2), depth);
    case 0xdf:
      return skipMap(bytes, at + 5, number(bytes, at + 1, 4), depth);
    default:
      throw unreadable(`there is a value of an unknown kind (0x${token.toString(16)})`);
  }
}

function skipItems(bytes: Uint8Array, from: number, count: number, depth: number): number {
  if (depth >= DEPTH_MAX) throw unreadable(`they are nested more than ${DEPTH_MAX} deep`);
  let at = from;
  for (let i = 0; i < count; i++) at = skip(bytes, at, depth + 1);
  return at;
}

function skipMap(bytes: Uint8Array, from: number, count: number, depth: number): number {
  if (depth >= DEPTH_MAX) throw unreadable(`they are nested more than ${DEPTH_MAX} deep`);
  let at = from;
  for (let i = 0; i < count; i++) {
    const header = stringHeader(bytes[at] ?? 0);
    if (header === 0) throw unreadable("an object has a field whose name is not a string");
    const end = skip(bytes, at, depth);
    if (isProto(bytes, at + header, end)) throw unreadable("an object has a field named __proto__");
    at = skip(bytes, end, depth + 1);
  }
  return at;
}

/** How many bytes stand before the letters of a string, or 0 if it is none. */
function stringHeader(token: number): number {
  if (token >= 0xa0 && token < 0xc0) return 1;
  return token === 0xd9 ? 2 : token === 0xda ? 3 : token === 0xdb ? 5 : 0;
}

const PROTO = Buffer.from("__proto__");

function isProto(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from !== PROTO.length) return false;
  for (let i = 0; i < PROTO.length; i++) if (bytes[from + i] !== PROTO[i]) return false;
  return true;
}

function number(bytes: Uint8Array, at: number, size: 1 | 2 | 4): number {
  let sum = 0;
  for (let i = at; i < at + size; i++) {
    const byte = bytes[i];
    if (byte === undefined) throw unreadable("they end too early");
    sum = sum * 256 + byte;
  }
  return sum;
}
