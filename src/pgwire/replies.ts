import type { ResultColumn } from "./catalog.js";
import { encodeCell, oidOf, sizeOf, type ValueFormat } from "./types.js";

/** The messages that a server sends, as bytes. */

function message(kind: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 4);
  const head = Buffer.alloc(5);
  head.write(kind, 0, "latin1");
  head.writeInt32BE(length, 1);
  return Buffer.concat([head, ...parts]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A text in the protocol ends with a zero byte, so it can hold none. */
function text(value: string): Buffer {
  return Buffer.from(`${value.replaceAll("\0", "")}\0`, "utf8");
}

export const askForPassword = message("R", int32(3));
export const signedIn = message("R", int32(0));
export const parseComplete = message("1");
export const bindComplete = message("2");
export const closeComplete = message("3");
export const noData = message("n");
export const portalSuspended = message("s");
export const emptyQuery = message("I");

export function setting(name: string, value: string): Buffer {
  return message("S", text(name), text(value));
}

export function backendKey(process: number, secret: number): Buffer {
  return message("K", int32(process), int32(secret));
}

/** The state of the transaction: idle, in one, or in one that has failed. */
export type Transaction = "I" | "T" | "E";

export function readyForQuery(state: Transaction): Buffer {
  return message("Z", Buffer.from(state, "latin1"));
}

export function commandComplete(tag: string): Buffer {
  return message("C", text(tag));
}

export function parameterDescription(oids: readonly number[]): Buffer {
  return message("t", int16(oids.length), ...oids.map(uint32));
}

export function rowDescription(
  columns: readonly ResultColumn[],
  formatOf: (index: number) => ValueFormat,
): Buffer {
  const fields = columns.map(({ name, type }, i) =>
    Buffer.concat([
      text(name),
      int32(0), // of no table
      int16(0),
      uint32(oidOf(type)),
      int16(sizeOf(type)),
      int32(-1),
      int16(formatOf(i) === "binary" ? 1 : 0),
    ]),
  );
  return message("T", int16(columns.length), ...fields);
}

export function dataRow(
  row: readonly (string | null)[],
  columns: readonly ResultColumn[],
  formatOf: (index: number) => ValueFormat,
): Buffer {
  const cells = columns.flatMap(({ type }, i) => {
    const value = row[i] ?? null;
    if (value === null) return [int32(-1)];
    const bytes = encodeCell(value, type, formatOf(i));
    return [int32(bytes.length), bytes];
  });
  return message("D", int16(columns.length), ...cells);
}

export interface ErrorReply {
  readonly severity: "ERROR" | "FATAL";
  /** PostgreSQL's five characters for the kind of error, by which drivers decide what to do. */
  readonly sqlState: string;
  readonly message: string;
  readonly hint?: string;
  /** Of the first wrong character in the query, counted from 1. */
  readonly position?: number;
}

export function failed({ severity, sqlState, message: what, hint, position }: ErrorReply): Buffer {
  const fields: [string, string][] = [
    ["S", severity],
    ["V", severity],
    ["C", sqlState],
    ["M", what],
  ];
  if (hint !== undefined) fields.push(["H", hint]);
  if (position !== undefined) fields.push(["P", String(position)]);
  const parts = fields.flatMap(([kind, value]) => [Buffer.from(kind, "latin1"), text(value)]);
  return message("E", ...parts, Buffer.from([0]));
}
