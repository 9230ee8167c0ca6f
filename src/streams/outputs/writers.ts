import type { Batch, Cell, Schema } from "../columns/index.js";
import { cellJson, cellText } from "./cells.js";

/** Turns results into lines of text. */
export interface Writer {
  /** The lines of a batch, with what comes before the first one. */
  lines(batch: Batch): string[];
  /** What is left when no more batches come. */
  end(): string[];
}

export type Format = "table" | "csv" | "json";

export function writerOf(format: Format, schema: Schema): Writer {
  switch (format) {
    case "csv":
      return new CsvWriter(schema);
    case "json":
      return new JsonWriter(schema);
    case "table":
      return new TableWriter(schema);
  }
}

/** RFC 4180 with a header. NULL is a field of no characters, and an empty text stands in quotes. */
class CsvWriter implements Writer {
  #header: string[];

  constructor(readonly schema: Schema) {
    this.#header = [schema.map(({ name }) => quoted(name)).join(",")];
  }

  lines(batch: Batch): string[] {
    const lines = this.#header;
    this.#header = [];
    for (let i = 0; i < batch.rows; i++)
      lines.push(cells(batch, i, this.schema, (text) => (text === null ? "" : quoted(text))).join(","));
    return lines;
  }

  end(): string[] {
    return this.#header;
  }
}

function quoted(text: string): string {
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One object per line. */
class JsonWriter implements Writer {
  readonly #names: readonly string[];

  constructor(readonly schema: Schema) {
    this.#names = schema.map(({ name }) => JSON.stringify(name));
  }

  lines(batch: Batch): string[] {
    return Array.from({ length: batch.rows }, (_, row) => {
      const pairs = this.schema.map((spec, i) => `${this.#names[i]}:${cellJson(batch.cell(row, i), spec)}`);
      return `{${pairs.join(",")}}`;
    });
  }

  end(): string[] {
    return [];
  }
}

/** So many rows decide how wide the columns are; those of later rows that are wider stand out. */
const ROWS_MEASURED = 1000;
const WIDTH_MAX = 60;

/** Aligned columns for people: numbers stand right, texts left, NULL is empty. */
class TableWriter implements Writer {
  #waiting: string[][] = [];
  #widths: readonly number[] | null = null;

  constructor(readonly schema: Schema) {}

  lines(batch: Batch): string[] {
    for (let i = 0; i < batch.rows; i++)
      this.#waiting.push(cells(batch, i, this.schema, (text) => printable(text ?? "")));
    return this.#waiting.length < ROWS_MEASURED && this.#widths === null ? [] : this.#release();
  }

  end(): string[] {
    return this.#release();
  }

  #release(): string[] {
    const rows = this.#waiting;
    this.#waiting = [];
    if (this.#widths !== null) return rows.map((row) => this.#line(row));
    const names = this.schema.map(({ name }) => printable(name));
    this.#widths = names.map((name, i) =>
      Math.max(widthOf(name), ...rows.map((row) => widthOf(row[i] ?? ""))),
    );
    const rule = this.#widths.map((width) => "─".repeat(width)).join("  ");
    return [this.#line(names), rule, ...rows.map((row) => this.#line(row))];
  }

  #line(row: readonly string[]): string {
    const padded = row.map((text, i) => {
      const gap = " ".repeat(Math.max(0, (this.#widths?.[i] ?? 0) - widthOf(text)));
      return RIGHT.includes(this.schema[i]?.type ?? "text") ? gap + text : text + gap;
    });
    return padded.join("  ").trimEnd();
  }
}

const RIGHT: readonly string[] = ["int", "float", "numeric"];

function widthOf(text: string): number {
  return [...text].length;
}

/** On one line, of a bearable length, and without what a terminal would obey. */
function printable(text: string): string {
  const line = text.replace(/\p{Cc}/gu, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^\p{Cc}$/u, "\ufffd"),
  );
  return widthOf(line) <= WIDTH_MAX ? line : `${[...line].slice(0, WIDTH_MAX - 1).join("")}…`;
}

function cells(batch: Batch, row: number, schema: Schema, shown: (text: string | null) => string): string[] {
  return schema.map((spec, i) => {
    const cell: Cell = batch.cell(row, i);
    return shown(cell === null ? null : cellText(cell, spec));
  });
}
