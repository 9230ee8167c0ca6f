import { canonicalJson } from "../../sql/index.js";
import {
  type Cell,
  type ColumnSpec,
  isTimestamp,
  numericOf,
  type Schema,
  timestampOfText,
} from "../columns/index.js";
import { shown } from "./reader.js";

/** Deeper than data is, and far from the end of the stack of `JSON.stringify`. */
const DEPTH_MAX = 500;

/** Half of a character, which UTF-8 cannot hold. */
const UNPAIRED = /\p{Surrogate}/u;

/** The cells of one parsed JSON record, or what is wrong with it. Keys that are not columns are left out. */
export function cellsOfJson(record: unknown, schema: Schema): Cell[] | string {
  if (typeof record !== "object" || record === null || Array.isArray(record))
    return `a record is a JSON object, not ${shownJson(record)}.`;
  const cells: Cell[] = [];
  for (const spec of schema) {
    const value: unknown = Object.hasOwn(record, spec.name) ? (Reflect.get(record, spec.name) ?? null) : null;
    const cell = cellOfJson(value, spec);
    if (cell === undefined) return misfit(spec, value);
    cells.push(cell);
  }
  return cells;
}

/** `undefined` if the value does not fit. */
function cellOfJson(value: unknown, { type, nullable, scale }: ColumnSpec): Cell | undefined {
  if (value === null) return nullable ? null : undefined;
  switch (type) {
    case "int":
      return Number.isSafeInteger(typeof value === "bigint" ? Number(value) : value)
        ? Number(value) + 0
        : undefined;
    case "float":
      return typeof value === "number" && Number.isFinite(value) ? value : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "text":
      return typeof value === "string" && !UNPAIRED.test(value) ? value : undefined;
    case "timestamp": {
      const ms = value instanceof Date ? value.getTime() : value;
      if (typeof ms === "number") return isTimestamp(ms) ? ms + 0 : undefined;
      const time = typeof value === "string" ? timestampOfText(value) : Number.NaN;
      return Number.isNaN(time) ? undefined : time;
    }
    case "numeric":
      if (isBeyond(value)) return undefined;
      return typeof value === "number" || typeof value === "string" || typeof value === "bigint"
        ? decimal(String(value), scale)
        : undefined;
    case "json": {
      if (isDeeper(value, DEPTH_MAX)) return undefined;
      const text = jsonText(value);
      return text !== undefined && !UNPAIRED.test(text) ? text : undefined;
    }
  }
}

/** Whole numbers of which a double may be another one. */
function isBeyond(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** `undefined` for what JSON has no word for, which programs can push and requests cannot. */
function jsonText(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : canonicalJson(JSON.parse(text));
  } catch {
    return undefined; // a bigint, or an object that contains itself
  }
}

/** JSON and JavaScript write very small and very large numbers with an exponent. */
function decimal(text: string, scale: number): Cell | undefined {
  const parts = /^(-?)(\d{1,1000})(?:\.(\d{1,1000}))?[eE]([+-]?\d{1,3})$/.exec(text);
  if (parts === null) return numericOf(text, scale) ?? undefined;
  const [, sign = "", whole = "", fraction = "", exponent = ""] = parts;
  const point = whole.length + Number(exponent);
  const digits = `${"0".repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(Math.max(point, 1), "0");
  const split = Math.max(point, 1);
  return numericOf(`${sign}${digits.slice(0, split)}.${digits.slice(split)}`, scale) ?? undefined;
}

function isDeeper(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let i = 0; i <= depth; i++) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function misfit({ name, type, nullable }: ColumnSpec, value: unknown): string {
  if (value === null) return `the column ${shown(name)} is missing or null, and must not be.`;
  if ((type === "int" || type === "numeric") && isBeyond(value))
    return `the column ${shown(name)} has a number beyond 2^53, which a double cannot hold exactly${
      type === "numeric" ? "; write it as a text" : ""
    }.`;
  const kind = nullable ? `${type} or null` : type;
  return `the column ${shown(name)} is ${shownJson(value)}; it takes ${kind}.`;
}

function shownJson(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  return typeof value === "string" ? shown(value) : String(value);
}
