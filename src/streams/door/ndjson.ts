import { Batch, type Cell, type Column, type Schema, timestampOf } from "../columns/index.js";
import { withDecimals } from "./json-decimals.js";
import { cellsOfJson } from "./json-record.js";
import { ndjsonCode } from "./ndjson-code.js";
import { DOOR_LIMITS, type DoorLimits, invalidUtf8, type Reader, refusal } from "./reader.js";
import { TextIndex } from "./text-index.js";

/** What a line of NDJSON takes at least, to guess how many rows there are. */
const LINE_BYTES = 32;
const POWERS = Array.from({ length: 23 }, (_, i) => 10 ** i);

interface State {
  at: number;
  row: number;
  capacity: number;
  readonly recordBytesMax: number;
}

type Parser = (
  bytes: Buffer,
  state: State,
  columns: readonly Column[],
  indexes: readonly TextIndex[],
  powers: readonly number[],
  timestamp: typeof timestampOf,
) => void;

const parsers = new Map<string, Parser>();
const PARSERS_MAX = 1000;
/** A stream's schema is one object from request to request. */
const parsersBySchema = new WeakMap<Schema, Parser>();

function parserOf(schema: Schema): Parser {
  const known = parsersBySchema.get(schema);
  if (known !== undefined) return known;
  const made = parserByCode(schema);
  parsersBySchema.set(schema, made);
  return made;
}

/** One parser per text of code: streams of one schema share what the engine has optimised. */
function parserByCode(schema: Schema): Parser {
  const code = ndjsonCode(schema);
  const known = parsers.get(code);
  if (known !== undefined) return known;
  if (parsers.size >= PARSERS_MAX) parsers.clear();
  const made = new Function("bytes", "state", "columns", "indexes", "powers", "timestampOf", code) as Parser;
  parsers.set(code, made);
  return made;
}

/**
 * Newline-delimited JSON, one object a line. Lines in the expected form go straight from bytes to columns (`ndjson-code.ts`),
 * all others through `JSON.parse`, which decides what a line means. Empty lines are passed over.
 */
export class NdjsonReader implements Reader {
  readonly #parser: Parser | null;
  readonly #indexes: readonly TextIndex[];
  readonly #hasDecimals: boolean;
  #line = 1;
  #byte = 0;

  /** `fast: false` reads every line with `JSON.parse`; tests compare the two. */
  constructor(
    readonly schema: Schema,
    readonly limits: DoorLimits = DOOR_LIMITS,
    { fast = true }: { readonly fast?: boolean } = {},
  ) {
    this.#parser = fast ? parserOf(schema) : null;
    this.#indexes = schema.map(() => new TextIndex());
    this.#hasDecimals = schema.some(({ type }) => type === "numeric");
  }

  read(bytes: Buffer, isLast: boolean): { readonly batch: Batch; readonly used: number } {
    const used = isLast ? bytes.length : bytes.lastIndexOf(10) + 1;
    const whole = bytes.subarray(0, used);
    if (bytes.length - used > this.limits.recordBytesMax) throw this.#tooLong(used, whole);
    const batch = Batch.empty(this.schema, Math.ceil(used / LINE_BYTES), false, whole);
    for (const index of this.#indexes) index.clear();
    const { recordBytesMax } = this.limits;
    const state: State = { at: 0, row: 0, capacity: 0, recordBytesMax };
    // Invalid bytes are found in the line that has them; the parser does not look for them.
    const parser = invalidUtf8(whole) < 0 ? this.#parser : null;
    const first = this.#line;
    let [seen, lines] = [0, 0];
    while (state.at < used) {
      batch.reserve(1);
      state.capacity = batch.capacity;
      parser?.(whole, state, batch.columns, this.#indexes, POWERS, timestampOf);
      lines += state.row - seen;
      batch.rows = state.row;
      if (state.at >= used) break;
      this.#line = first + lines;
      this.#one(whole, state, batch);
      lines++;
      seen = state.row;
    }
    this.#line = first + lines;
    this.#byte += used;
    return { batch, used };
  }

  #one(bytes: Buffer, state: State, batch: Batch): void {
    const newline = bytes.indexOf(10, state.at);
    const end = newline < 0 ? bytes.length : newline;
    const start = state.at;
    if (end - start > this.limits.recordBytesMax) throw this.#tooLong(start, bytes);
    state.at = newline < 0 ? end : end + 1;
    const invalid = invalidUtf8(bytes.subarray(start, end));
    if (invalid >= 0) throw this.#refused(start, `byte ${invalid + 1} of the line is not UTF-8.`);
    const text = bytes.toString("utf8", start, end);
    if (/^[ \t\r]*$/.test(text)) return;
    const cells = this.#cells(text, start);
    batch.append(cells);
    state.row = batch.rows;
  }

  #cells(text: string, start: number): readonly Cell[] {
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw this.#refused(start, `the line is not JSON: ${why}.`, { cause: error });
    }
    const cells = cellsOfJson(
      this.#hasDecimals ? withDecimals(record, text, this.schema) : record,
      this.schema,
    );
    if (typeof cells === "string") throw this.#refused(start, cells);
    return cells;
  }

  #refused(start: number, what: string, options?: ErrorOptions) {
    return refusal(this.#line, this.#byte + start, what, options);
  }

  #tooLong(start: number, bytes: Buffer) {
    let line = this.#line;
    if (start === bytes.length) for (const byte of bytes) if (byte === 10) line++;
    return refusal(line, this.#byte + start, `the line is longer than ${this.limits.recordBytesMax} bytes.`);
  }
}
