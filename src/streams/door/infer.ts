import { type ColumnSpec, type ColumnType, column, type Schema, timestampOfText } from "../columns/index.js";
import { type Field, scanField } from "./csv.js";
import { refusal } from "./reader.js";

/**
 * The columns of a file without a written schema, from its first records. A column gets the narrowest type that all of
 * its values in the sample have; it is nullable, because a sample cannot show that NULL never comes. Digits that a
 * number would not give back (`007`, twenty digits) are text.
 */
export function inferCsv(sample: Buffer, { header = true, delimiter = 0x2c } = {}): Schema {
  const bytes = withoutMark(sample);
  const [first = [], ...rest] = records(bytes, delimiter);
  const names = header
    ? uniqueNames(first.map((field) => field ?? ""))
    : first.map((_, i) => `column${i + 1}`);
  const rows = header ? rest : [first, ...rest];
  return names.map((name, i) => column(name, typeOfTexts(rows.flatMap((row) => row[i] ?? []))));
}

/** The fields of the whole records of a sample; `null` for a field of no characters. */
function records(bytes: Buffer, delimiter: number): (string | null)[][] {
  const field: Field = { start: 0, end: 0, quoted: false, doubled: false, next: 0 };
  const all: (string | null)[][] = [];
  let record: (string | null)[] = [];
  for (
    let at = 0;
    at < bytes.length && scanField(bytes, at, bytes.length, delimiter, field);
    at = field.next + 1
  ) {
    const text = bytes.toString("utf8", field.start, field.end);
    record.push(text === "" && !field.quoted ? null : field.doubled ? text.replaceAll('""', '"') : text);
    if (bytes[field.next] === delimiter) continue;
    if (record.length > 1 || record[0] !== null) all.push(record);
    record = [];
    if (bytes[field.next] === 13 && bytes[field.next + 1] === 10) field.next++;
  }
  return all;
}

function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((written, i) => {
    const name = written.trim() === "" ? `column${i + 1}` : written.trim();
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** From the narrowest to the widest; a column with no values is text. */
const TEXT_TYPES: readonly [type: ColumnType, fits: (text: string) => boolean][] = [
  ["int", (text) => /^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text))],
  ["float", (text) => /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) && !/^-?\d{16,}$/.test(text)],
  ["bool", (text) => /^(true|false)$/i.test(text)],
  ["timestamp", (text) => !Number.isNaN(timestampOfText(text))],
];

function typeOfTexts(values: readonly string[]): ColumnType {
  if (values.length === 0) return "text";
  return TEXT_TYPES.find(([, fits]) => values.every((value) => fits(value.trim())))?.[0] ?? "text";
}

/** The same for NDJSON, by the values of all keys that the sample has, in the order of their first use. */
export function inferNdjson(sample: Buffer): Schema {
  const values = new Map<string, unknown[]>();
  for (const [i, line] of sample.toString("utf8").split("\n").entries()) {
    const record = parsed(line, i + 1);
    if (record === null) continue;
    for (const [name, value] of Object.entries(record)) {
      const known = values.get(name) ?? [];
      values.set(name, known);
      if (value !== null) known.push(value);
    }
  }
  return [...values].map(([name, all]): ColumnSpec => column(name, typeOfValues(all)));
}

function parsed(line: string, number: number): object | null {
  if (line.trim() === "") return null;
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refusal(number, 0, `the line is not JSON: ${why}.`, { cause: error });
  }
  if (typeof record === "object" && record !== null && !Array.isArray(record)) return record;
  throw refusal(number, 0, "a record is a JSON object.");
}

function typeOfValues(values: readonly unknown[]): ColumnType {
  if (values.length === 0) return "text";
  if (values.every((value) => Number.isSafeInteger(value))) return "int";
  if (values.every((value) => typeof value === "number")) return "float";
  if (values.every((value) => typeof value === "boolean")) return "bool";
  if (!values.every((value) => typeof value === "string")) return "json";
  return values.every((value) => !Number.isNaN(timestampOfText(value))) ? "timestamp" : "text";
}
