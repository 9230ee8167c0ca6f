import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chart, type Figure } from "#src/chart/chart.js";

const DOCS = fileURLToPath(new URL("../../docs/figures", import.meta.url));

export interface FigureOptions {
  readonly json: boolean;
  readonly quick: boolean;
  /** Where to draw; null: nowhere. A quick run draws nothing unless it is told where. */
  readonly folder: string | null;
}

/** The options of the benches that draw figures. */
export function figureOptions(args: readonly string[]): FigureOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: "boolean" }, quick: { type: "boolean" }, figures: { type: "string" } },
  });
  const { json = false, quick = false, figures } = values;
  return { json, quick, folder: figures ?? (quick ? null : DOCS) };
}

/** Collects what a bench found, prints it, and draws it. */
export class Findings<Row extends object> {
  readonly rows: Row[] = [];

  constructor(
    readonly bench: string,
    readonly options: FigureOptions,
  ) {}

  add(row: Row): void {
    this.rows.push(row);
    if (this.options.json) process.stdout.write(`${JSON.stringify({ bench: this.bench, ...row })}\n`);
  }

  progress(line: string): void {
    process.stderr.write(`${this.bench}: ${line}\n`);
  }

  /** `data` is what the pictures show, and goes beside them. */
  async draw(figures: Readonly<Record<string, Figure>>, data: object): Promise<void> {
    const { folder, json } = this.options;
    if (!json) process.stdout.write(tableOf(this.rows));
    if (folder === null) return;
    await mkdir(folder, { recursive: true });
    for (const [name, figure] of Object.entries(figures)) {
      await writeFile(join(folder, `${name}.svg`), chart(figure));
      this.progress(`drew ${name}.svg`);
    }
    const machine = { cores: cpus().length, loadAverage: loadavg()[0] }; // how much else went on
    const text = JSON.stringify({ bench: this.bench, machine, rows: this.rows, ...data }, compact, 1);
    await writeFile(
      join(folder, `${this.bench}.json`),
      `${text.replace(/\[\s+([-\d.]+),\s+([-\d.]+)\s+\]/g, "[$1, $2]")}\n`,
    );
  }
}

/** Figures as exact as they are meant. */
function compact(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}

function tableOf(rows: readonly object[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [
    columns,
    ...rows.map((row) => columns.map((name) => shown((row as Record<string, unknown>)[name]))),
  ];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  return cells.map((row) => `${row.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ")}\n`).join("");
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value);
}
