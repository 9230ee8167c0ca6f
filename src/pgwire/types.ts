import type { SqlType } from "../sql/index.js";
import { BrokenProtocol } from "./frames.js";
import { decodeNumeric, encodeNumeric } from "./numeric.js";

/** The types of PostgreSQL by the numbers that drivers know them by, and their binary forms. */

export type ValueFormat = "text" | "binary";

const OIDS: Readonly<Record<string, number>> = {
  bool: 16,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  json: 114,
  float4: 700,
  float8: 701,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  interval: 1186,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
  "bool[]": 1000,
  "int2[]": 1005,
  "int4[]": 1007,
  "text[]": 1009,
  "int8[]": 1016,
  "float4[]": 1021,
  "float8[]": 1022,
  "timestamp[]": 1115,
  "date[]": 1182,
  "timestamptz[]": 1185,
  "interval[]": 1187,
  "numeric[]": 1231,
  "json[]": 199,
  "uuid[]": 2951,
  "jsonb[]": 3807,
};

const SIZES: Readonly<Record<string, number>> = {
  bool: 1,
  int2: 2,
  int4: 4,
  int8: 8,
  float4: 4,
  float8: 8,
  date: 4,
  timestamp: 8,
  timestamptz: 8,
  interval: 16,
  uuid: 16,
};

const TEXT_OID = 25;

export function oidOf(type: SqlType): number {
  return OIDS[type] ?? TEXT_OID;
}

/** The bytes of a value of fixed length, or -1. */
export function sizeOf(type: SqlType): number {
  return SIZES[type] ?? -1;
}

/** 2000-01-01, from which PostgreSQL counts days and microseconds, in milliseconds since 1970. */
const EPOCH_MS = 946_684_800_000;
const DAY_MS = 86_400_000;

/** A value in text form, in the form that the client asked for. Arrays and intervals have no binary form here. */
export function encodeCell(value: string, type: SqlType, format: ValueFormat): Buffer {
  const binary = format === "binary" ? BINARY[type] : undefined;
  if (format === "binary" && binary === undefined && !isText(type))
    throw new Error(`${type} has no binary form here`);
  return binary === undefined ? Buffer.from(value, "utf8") : binary.encode(value);
}

/** Whether results of a type can be sent in binary form. */
export function hasBinary(type: SqlType): boolean {
  return BINARY[type] !== undefined || isText(type);
}

/** A parameter in the client's form, as text. */
export function decodeParameter(bytes: Buffer, type: SqlType, format: ValueFormat): string {
  const binary = format === "binary" ? BINARY[type] : undefined;
  if (format === "binary" && binary === undefined && !isText(type))
    throw new BrokenProtocol(
      `a parameter of type ${type} in binary form, which is not taken; send it as text`,
    );
  return binary === undefined ? bytes.toString("utf8") : binary.decode(bytes);
}

/** Of texts, the two forms are the same. */
function isText(type: SqlType): boolean {
  return type === "text" || type === "json" || type === "untyped";
}

interface Binary {
  encode(value: string): Buffer;
  decode(bytes: Buffer): string;
}

function fixed(
  size: number,
  write: (bytes: Buffer, value: string) => void,
  read: (bytes: Buffer) => string,
): Binary {
  return {
    encode(value) {
      const bytes = Buffer.alloc(size);
      write(bytes, value);
      return bytes;
    },
    decode(bytes) {
      if (bytes.length !== size)
        throw new BrokenProtocol(`a parameter of ${bytes.length} bytes instead of ${size}`);
      return read(bytes);
    },
  };
}

const instant = fixed(
  8,
  (bytes, value) => bytes.writeBigInt64BE(microsecondsOf(value)),
  (bytes) => instantText(bytes.readBigInt64BE(0)),
);

const BINARY: Readonly<Partial<Record<SqlType, Binary>>> = {
  bool: fixed(
    1,
    (bytes, value) => bytes.writeUInt8(value === "t" || value === "true" ? 1 : 0),
    (bytes) => (bytes[0] === 0 ? "f" : "t"),
  ),
  int2: fixed(
    2,
    (bytes, value) => bytes.writeInt16BE(Number(value)),
    (bytes) => String(bytes.readInt16BE(0)),
  ),
  int4: fixed(
    4,
    (bytes, value) => bytes.writeInt32BE(Number(value)),
    (bytes) => String(bytes.readInt32BE(0)),
  ),
  int8: fixed(
    8,
    (bytes, value) => bytes.writeBigInt64BE(BigInt(value)),
    (bytes) => String(bytes.readBigInt64BE(0)),
  ),
  float4: fixed(
    4,
    (bytes, value) => bytes.writeFloatBE(Number(value)),
    (bytes) => String(bytes.readFloatBE(0)),
  ),
  float8: fixed(
    8,
    (bytes, value) => bytes.writeDoubleBE(Number(value)),
    (bytes) => String(bytes.readDoubleBE(0)),
  ),
  date: fixed(
    4,
    (bytes, value) => bytes.writeInt32BE(Math.round((Date.parse(`${value}T00:00:00Z`) - EPOCH_MS) / DAY_MS)),
    (bytes) => new Date(EPOCH_MS + bytes.readInt32BE(0) * DAY_MS).toISOString().slice(0, 10),
  ),
  timestamp: instant,
  timestamptz: instant,
  uuid: fixed(
    16,
    (bytes, value) => bytes.write(value.replaceAll("-", ""), "hex"),
    (bytes) => bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  ),
  numeric: { encode: encodeNumeric, decode: decodeNumeric },
  jsonb: {
    encode: (value) => Buffer.concat([Buffer.from([1]), Buffer.from(value, "utf8")]),
    decode: (bytes) => bytes.toString("utf8", 1),
  },
};

const TIME = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:[+-]\d\d(?::?\d\d)?)?$/;

/** Microseconds since 2000. Times here are in UTC, so an offset is always zero. */
function microsecondsOf(value: string): bigint {
  const [, year = "0", month, day, hour, minute, second, fraction = ""] = TIME.exec(value) ?? [];
  const ms = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  return BigInt(ms - EPOCH_MS) * 1000n + BigInt(fraction.padEnd(6, "0"));
}

function instantText(microseconds: bigint): string {
  const [seconds, rest] = [microseconds / 1_000_000n, microseconds % 1_000_000n];
  const [whole, fraction] = rest < 0n ? [seconds - 1n, rest + 1_000_000n] : [seconds, rest];
  const date = new Date(EPOCH_MS + Number(whole) * 1000);
  if (Number.isNaN(date.getTime())) throw new BrokenProtocol("a time that is out of range");
  const shown = date.toISOString().slice(0, 19).replace("T", " ");
  return fraction === 0n ? shown : `${shown}.${String(fraction).padStart(6, "0")}`;
}
