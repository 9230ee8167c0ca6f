/** A part of the text of a query, in UTF-16 units, so that `text.slice(start, end)` is what stands there. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a part of a query stands, for people: lines and columns are counted from 1, columns in characters. */
export interface QueryPosition {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** The column after the last character. */
  readonly endColumn: number;
}

export function positionOf(text: string, span: Span): QueryPosition {
  const [line, column] = place(text, span.start);
  const [endLine, endColumn] = place(text, Math.max(span.start, span.end));
  return { line, column, endLine, endColumn };
}

function place(text: string, offset: number): [line: number, column: number] {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return [line, [...before.slice(lineStart)].length + 1];
}

/** `what`, then the line of the query that it is about with a mark under it. */
export function pointAt(text: string, span: Span, what: string): string {
  const { line, column } = positionOf(text, span);
  const written = (text.split("\n")[line - 1] ?? "").replace(/\r$/, "");
  const before = [...written].slice(0, column - 1);
  const shown = [...written].length - before.length;
  const length = Math.max(1, Math.min([...text.slice(span.start, span.end)].length, shown));
  const indent = before.map((character) => (character === "\t" ? "\t" : " ")).join("");
  return `${what}\n  at line ${line}, column ${column} of the query:\n    ${written}\n    ${indent}${"^".repeat(length)}`;
}

/**
 * PostgreSQL's parser counts in UTF-8 bytes where it describes a query and in code points where it refuses one. Both
 * are turned into UTF-16 units here, once.
 */
export class Offsets {
  readonly #text: string;
  readonly #ascii: boolean;
  #units: Uint32Array | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#ascii = /^[\0-\x7f]*$/.test(text);
  }

  fromBytes(bytes: number): number {
    if (this.#ascii) return bytes;
    this.#units ??= unitsByByte(this.#text);
    return this.#units[Math.min(bytes, this.#units.length - 1)] ?? 0;
  }

  fromCharacters(characters: number): number {
    return this.#ascii ? characters : [...this.#text].slice(0, characters).join("").length;
  }
}

function unitsByByte(text: string): Uint32Array {
  const units: number[] = [];
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) units.push(at);
    at += character.length;
  }
  units.push(at);
  return Uint32Array.from(units);
}
