import { Batch, type Column, type ColumnSpec, type Schema, setCell } from "../columns/index.js";
import { cellOfField } from "./csv-fields.js";
import { DOOR_LIMITS, type DoorLimits, invalidUtf8, type Reader, refusal, shown } from "./reader.js";
import { TextIndex } from "./text-index.js";

const COMMA = 0x2c;
const QUOTE = 0x22;
const NEWLINE = 10;
const RETURN = 13;
/** What a record takes at least, to guess how many rows there are. */
const RECORD_BYTES = 16;
/** Texts up to here are looked up, so that equal ones share a code. */
const SHORT_BYTES = 32;

/** A field as it stands in the bytes, without its quotes. */
export interface Field {
  start: number;
  end: number;
  quoted: boolean;
  /** There are quotes in it, each written twice. */
  doubled: boolean;
  /** The byte behind it: a delimiter, a line's end, or the end of the bytes. */
  next: number;
}

/**
 * CSV as RFC 4180 has it: fields between commas, records between line ends (with or without a carriage return), fields
 * in quotes may hold commas, line ends and quotes written twice. As in PostgreSQL, a field of no characters is NULL, and an
 * empty one in quotes is an empty text.
 *
 * Whether a record is whole can only be known by reading it, because quotes decide what a line end means; so `read` goes
 * field by field, and goes back to the beginning of the record where the bytes end inside of it.
 */
export class CsvReader implements Reader {
  readonly #indexes: readonly TextIndex[];
  readonly #field: Field = { start: 0, end: 0, quoted: false, doubled: false, next: 0 };
  readonly #delimiter: number;
  #line = 1;
  #byte = 0;
  #skipsHeader: boolean;

  constructor(
    readonly schema: Schema,
    readonly limits: DoorLimits = DOOR_LIMITS,
    { header = true, delimiter = COMMA }: { readonly header?: boolean; readonly delimiter?: number } = {},
  ) {
    this.#indexes = schema.map(() => new TextIndex());
    this.#skipsHeader = header;
    this.#delimiter = delimiter;
  }

  read(bytes: Buffer, isLast: boolean): { readonly batch: Batch; readonly used: number } {
    const limit = wholeCharacters(bytes, isLast);
    const invalid = invalidUtf8(bytes.subarray(0, limit));
    const batch = Batch.empty(this.schema, Math.ceil(limit / RECORD_BYTES), false, bytes);
    for (const index of this.#indexes) index.clear();
    let at = 0;
    while (at < limit) {
      const line = this.#line;
      const next = this.#record(bytes, at, limit, isLast, batch);
      if (next < 0) break;
      if (invalid >= 0 && next > invalid)
        throw refusal(line, this.#byte + at, `byte ${this.#byte + invalid} is not UTF-8.`);
      at = next;
    }
    if (limit - at > this.limits.recordBytesMax) throw this.#tooLong(at);
    this.#byte += at;
    return { batch, used: at };
  }

  /** Reads one record and returns where the next begins; -1 if the bytes end inside of it. */
  #record(bytes: Buffer, start: number, limit: number, isLast: boolean, batch: Batch): number {
    const field = this.#field;
    const { schema } = this;
    let at = start;
    let count = 0;
    batch.reserve(1);
    for (;;) {
      if (!scanField(bytes, at, limit, this.#delimiter, field)) {
        if (!isLast) return -1;
        throw this.#refused(start, "a quote is opened and never closed.");
      }
      const ended = field.next >= limit;
      if (ended && !isLast) return -1;
      const byte = ended ? NEWLINE : bytes[field.next];
      if (byte === RETURN && field.next + 1 >= limit && !isLast) return -1;
      if (count === 0 && isBlank(field, byte, this.#delimiter) && schema.length !== 1) {
        this.#line++;
        return afterLine(bytes, field.next, limit);
      }
      if (byte !== this.#delimiter && byte !== NEWLINE && byte !== RETURN)
        throw this.#refused(
          start,
          "a closing quote is followed by something else than a comma or a line end.",
        );
      const [spec, column, index] = [schema[count], batch.columns[count], this.#indexes[count]];
      if (spec !== undefined && column !== undefined && index !== undefined && !this.#skipsHeader)
        this.#cell(bytes, start, spec, column, index, batch.rows);
      count++;
      at = field.next + 1;
      if (byte !== this.#delimiter) break;
    }
    const next = afterLine(bytes, field.next, limit);
    if (next - start > this.limits.recordBytesMax) throw this.#tooLong(start);
    if (!this.#skipsHeader) {
      if (count !== schema.length)
        throw this.#refused(start, `there are ${count} fields, and ${schema.length} columns.`);
      batch.rows++;
    }
    this.#skipsHeader = false;
    for (let i = start; i < next; i++) if (bytes[i] === NEWLINE) this.#line++;
    return next;
  }

  #cell(
    bytes: Buffer,
    record: number,
    spec: ColumnSpec,
    column: Column,
    index: TextIndex,
    row: number,
  ): void {
    const { start, end, quoted, doubled } = this.#field;
    if (start === end && !quoted) {
      if (!spec.nullable)
        throw this.#refused(record, `the column ${shown(spec.name)} is empty, and must not be.`);
      setCell(column, row, null);
      return;
    }
    if (spec.type === "text" && column.storage === "text" && !doubled) {
      if (column.nulls !== null) column.nulls[row] = 0;
      column.codes[row] =
        end - start > SHORT_BYTES
          ? column.texts.addSlice(start, end)
          : index.code(bytes, start, end, hashOf(bytes, start, end), column.texts);
      return;
    }
    if (column.storage === "number" && spec.type !== "timestamp") {
      const plain = plainInteger(bytes, start, end);
      if (plain !== plainInteger.none) {
        if (column.nulls !== null) column.nulls[row] = 0;
        column.values[row] = plain;
        return;
      }
    }
    const written = bytes.toString("utf8", start, end);
    const text = doubled ? written.replaceAll('""', '"') : written;
    const cell = cellOfField(text, spec);
    if (cell === undefined)
      throw this.#refused(record, `the column ${shown(spec.name)} is ${shown(text)}; it takes ${spec.type}.`);
    setCell(column, row, cell);
  }

  #refused(start: number, what: string) {
    return refusal(this.#line, this.#byte + start, what);
  }

  #tooLong(start: number) {
    return this.#refused(start, `the record is longer than ${this.limits.recordBytesMax} bytes.`);
  }
}

/** Finds the end of the field at `at`; false if the bytes end before its closing quote is known to be one. */
export function scanField(
  bytes: Buffer,
  at: number,
  limit: number,
  delimiter: number,
  field: Field,
): boolean {
  field.quoted = at < limit && bytes[at] === QUOTE;
  field.doubled = false;
  let p = field.quoted ? at + 1 : at;
  field.start = p;
  if (!field.quoted) {
    for (; p < limit; p++) {
      const byte = bytes[p];
      if (byte === delimiter || byte === NEWLINE || byte === RETURN) break;
    }
    field.end = p;
    field.next = p;
    return true;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, p);
    if (quote < 0 || quote >= limit) return false;
    if (bytes[quote + 1] !== QUOTE || quote + 1 >= limit) {
      field.end = quote;
      field.next = quote + 1;
      return true;
    }
    field.doubled = true;
    p = quote + 2;
  }
}

function isBlank({ start, end, quoted }: Field, byte: number | undefined, delimiter: number): boolean {
  return start === end && !quoted && byte !== delimiter;
}

function afterLine(bytes: Buffer, at: number, limit: number): number {
  return bytes[at] === RETURN && at + 1 < limit && bytes[at + 1] === NEWLINE
    ? at + 2
    : Math.min(at + 1, limit);
}

/** Where the last whole character ends: a piece of a file can end inside of one. */
function wholeCharacters(bytes: Buffer, isLast: boolean): number {
  if (isLast) return bytes.length;
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end--;
  return end > 0 && (bytes[end - 1] ?? 0) >= 0xc0 ? end - 1 : bytes.length;
}

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0;
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  return hash;
}

/** An integer of at most 15 digits without more ado, which most numbers in files are; any other goes through its text. */
function plainInteger(bytes: Buffer, start: number, end: number): number {
  const negative = bytes[start] === 0x2d;
  const first = negative ? start + 1 : start;
  if (end === first || end - first > 15) return plainInteger.none;
  let value = 0;
  for (let i = first; i < end; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return plainInteger.none;
    value = value * 10 + digit;
  }
  return !negative ? value : value === 0 ? plainInteger.none : -value;
}
plainInteger.none = 2 ** 60;
