import type { ScanToken } from "libpg-query";
import type { Emit } from "../plan.js";
import type { Span } from "../source.js";
import { postgres } from "./postgres.js";

/**
 * A small pass over the tokens, for what people write and PostgreSQL's grammar does not take. It never changes the
 * length of the text, so that positions stay true.
 *
 * - `window` as a column name (figure 6 of Blazes): a reserved word, so it is read under another name.
 * - `TABLE(TUMBLE(TABLE clicks, ...))`, Flink's spelling: the word TABLE is left out, and its parentheses are. In
 *   `SESSION(TABLE clicks PARTITION BY id, ...)`, the key becomes an argument. `DATA => TABLE clicks` is the same by names.
 * - `EMIT CHANGES` and `EMIT ON WINDOW CLOSE` at the end are taken off and kept apart, and so is `WITH (name = value, ...)`.
 * - `INTERVAL '10' MINUTES`, Flink's plural: the `S` is left out.
 * - `FOR SYSTEM_TIME AS OF …` behind a table is taken out, and the table is remembered by its place.
 * - `CREATE STREAM` (and `SOURCE`, as RisingWave has it) is read as `CREATE TABLE`, and `WATERMARK FOR …` in it is kept apart.
 */
export interface Adapted {
  readonly text: string;
  /** What PostgreSQL calls `name`, by the name that was written. */
  written(name: string): string;
  readonly tokens: readonly ScanToken[];
  readonly emit: Emit | null;
  /** What stands in `WITH (...)` at the end of a query. */
  readonly options: Readonly<Record<string, string>>;
  readonly createsStream: boolean;
  /** The tables with FOR SYSTEM_TIME AS OF, by where their names begin. */
  readonly versions: ReadonlyMap<number, VersionWords>;
  readonly watermark: WatermarkWords | null;
}

/** The moment of processing, the place of a column with a time, or something else. */
export type VersionWords =
  | "now"
  | "other"
  | { readonly table: string | null; readonly name: string; readonly start: number };

/** What stands behind WATERMARK FOR, and where. */
export interface WatermarkWords {
  readonly words: string;
  readonly span: Span;
}

const PLURALS: ReadonlySet<string> = new Set(["seconds", "minutes", "hours", "days"]);

export function adapt(text: string): Adapted {
  const tokens = scan(text);
  const standIn = unusedName(text);
  const bytes = new TextEncoder().encode(text);
  const put = (token: ScanToken | undefined, word: string) => {
    if (token === undefined) return;
    bytes.set(new TextEncoder().encode(word.padEnd(token.end - token.start)), token.start);
  };
  const word = (i: number) => tokens[i]?.text.toLowerCase() ?? "";
  const { emit, options, from: end } = trailing(tokens, word);
  const createsStream = word(0) === "create" && ["stream", "source"].includes(word(1));
  if (createsStream) put(tokens[1], "table");
  const mark = word(0) === "create" ? watermarkClause(tokens, word) : null;
  for (const token of mark === null ? [] : tokens.slice(mark.from, mark.to)) put(token, "");
  for (const [i, token] of tokens.entries()) {
    if (mark !== null && i >= mark.from && i < mark.to) continue;
    if (i >= end && token.text !== ";") put(token, "");
    else if (word(i - 2) === "interval" && PLURALS.has(word(i))) put(token, word(i).slice(0, -1));
    else if (token.keywordName === "NO_KEYWORD") continue;
    else if (word(i) === "window" && !opensWindowClause(tokens, i)) put(token, standIn);
    else if (word(i) === "table" && word(i + 1) === "(") {
      for (const each of [token, tokens[i + 1], tokens[closing(tokens, i + 1)]]) put(each, "");
    } else if (word(i) === "table" && ["(", ",", "=>"].includes(word(i - 1))) {
      put(token, "");
      if (word(i + 2) !== "partition" || word(i + 3) !== "by") continue;
      put(tokens[i + 2], ",");
      put(tokens[i + 3], "");
    }
  }
  const versions = new Map<number, VersionWords>();
  for (const [i, token] of tokens.entries()) {
    const clause = versionClause(tokens, word, i + 1);
    if (clause === null) continue;
    versions.set(token.start, clause.version);
    for (const each of tokens.slice(i + 1, clause.to)) put(each, "");
  }
  const back = new RegExp(standIn, "g");
  return {
    text: new TextDecoder().decode(bytes),
    tokens,
    written: (name) => name.replace(back, "window"),
    emit,
    options,
    createsStream,
    versions,
    watermark: mark === null ? null : watermarkWords(text, tokens.slice(mark.from, mark.to)),
  };
}

/** `FOR SYSTEM_TIME AS OF PROCTIME()`, or a column such as `b.ts` instead of the call. */
function versionClause(
  tokens: readonly ScanToken[],
  word: (i: number) => string,
  from: number,
): { readonly to: number; readonly version: VersionWords } | null {
  if (["for", "system_time", "as", "of"].some((each, i) => word(from + i) !== each)) return null;
  const first = from + 4;
  let to = first + 1;
  while (word(to) === ".") to += 2;
  if (word(to) === "(" && word(to + 1) === ")")
    return { to: to + 2, version: ["proctime", "now"].includes(word(first)) ? "now" : "other" };
  const [name, table] = [nameOf(tokens[to - 1]), to - first > 1 ? nameOf(tokens[to - 3]) : null];
  const isColumn = to - first <= 3 && name !== null && (to - first === 1 || table !== null);
  return { to, version: isColumn ? { table, name, start: tokens[first]?.start ?? 0 } : "other" };
}

/** An identifier as PostgreSQL reads it. */
function nameOf(token: ScanToken | undefined): string | null {
  if (token === undefined) return null;
  const { text } = token;
  if (text.startsWith('"')) return text.slice(1, -1).replaceAll('""', '"');
  return /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(text) ? text.toLowerCase() : null;
}

/** With the comma before it, up to the next one or the end of the list. */
function watermarkClause(
  tokens: readonly ScanToken[],
  word: (i: number) => string,
): { readonly from: number; readonly to: number } | null {
  const start = tokens.findIndex((_, i) => word(i) === "watermark" && word(i + 1) === "for");
  if (start < 0) return null;
  let to = start;
  for (let depth = 0; to < tokens.length; to++) {
    if (word(to) === "(") depth++;
    if (word(to) === ")" && depth-- === 0) break;
    if (word(to) === "," && depth === 0) break;
  }
  return { from: word(start - 1) === "," ? start - 1 : start, to: word(start - 1) === "," ? to : to + 1 };
}

function watermarkWords(text: string, tokens: readonly ScanToken[]): WatermarkWords {
  const inside = tokens.filter(({ text: word }) => word !== ",");
  const bytes = new TextEncoder().encode(text);
  const [start, end] = [inside[0]?.start ?? 0, inside.at(-1)?.end ?? 0];
  const decoded = (from: number, to: number) => new TextDecoder().decode(bytes.slice(from, to));
  const before = decoded(0, start).length;
  const words = decoded(start, end);
  return {
    words: words
      .replace(/^watermark\s+for\s+/i, "")
      .replace(/\s+/g, " ")
      .trim(),
    span: { start: before, end: before + words.length },
  };
}

/** What follows a query that PostgreSQL's grammar does not know: EMIT and WITH (...), in any order. It begins at `from`. */
function trailing(
  tokens: readonly ScanToken[],
  word: (i: number) => string,
): { readonly emit: Emit | null; readonly options: Readonly<Record<string, string>>; readonly from: number } {
  let from = word(tokens.length - 1) === ";" ? tokens.length - 1 : tokens.length;
  let emit: Emit | null = null;
  let options: Readonly<Record<string, string>> = {};
  for (let i = 0; i < 2; i++) {
    const last = [-4, -3, -2, -1].map((back) => word(from + back));
    if (emit === null && last.slice(2).join(" ") === "emit changes") {
      emit = "changes";
      from -= 2;
    } else if (emit === null && last.join(" ") === "emit on window close") {
      emit = "on window close";
      from -= 4;
    } else {
      const clause = isTable(word) ? null : optionsClause(tokens.slice(0, from));
      if (clause !== null) [options, from] = [clause.options, clause.from];
    }
  }
  return { emit, options, from };
}

/** The options of a stream or a table are part of PostgreSQL's grammar. */
function isTable(word: (i: number) => string): boolean {
  return word(0) === "create" && word(1) !== "materialized";
}

/** `WITH (name = value, ...)` at the end of the tokens. */
function optionsClause(
  tokens: readonly ScanToken[],
): { readonly options: Readonly<Record<string, string>>; readonly from: number } | null {
  const from = tokens.findLastIndex(
    ({ text }, i) => text.toLowerCase() === "with" && tokens[i + 1]?.text === "(",
  );
  if (from < 0 || closing(tokens, from + 1) !== tokens.length - 1) return null;
  const inside = tokens.slice(from + 2, -1);
  const options: [string, string][] = [];
  for (let i = 0; i < inside.length; i += 4) {
    const [name, equals, value, comma] = inside.slice(i, i + 4).map(({ text }) => text);
    const isWhole = name !== undefined && equals === "=" && value !== undefined && /^[a-z_]\w*$/i.test(name);
    if (!isWhole || (comma !== undefined && comma !== ",")) return null;
    options.push([name.toLowerCase(), unquoted(value)]);
  }
  return { options: Object.fromEntries(options), from };
}

function unquoted(text: string): string {
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text;
}

function closing(tokens: readonly ScanToken[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i]?.text === "(") depth++;
    if (tokens[i]?.text === ")" && --depth === 0) return i;
  }
  return -1;
}

/** A text that cannot be cut into tokens is refused by the parser, in better words. */
function scan(text: string): ScanToken[] {
  const { scanSync } = postgres();
  try {
    return scanSync(text).tokens.filter(({ tokenName }) => !/COMMENT/.test(tokenName));
  } catch {
    return [];
  }
}

/** `WINDOW w AS (...)`, which is refused later with words of its own. */
function opensWindowClause(tokens: readonly ScanToken[], i: number): boolean {
  return tokens[i + 2]?.text.toLowerCase() === "as" && tokens[i + 3]?.text === "(";
}

function unusedName(text: string): string {
  const lower = text.toLowerCase();
  for (let i = 0; ; i++) {
    const name = `w${String(i).padStart(4, "0")}w`;
    if (!lower.includes(name)) return name;
  }
}
