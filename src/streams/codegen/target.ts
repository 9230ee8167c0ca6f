import { Batch, type Column, emptyColumn, type Schema, type TextColumn } from "../columns/index.js";
import type { CodeBuilder, ColumnSource, Value } from "./code.js";

/**
 * The batch that generated code appends to, at row `k`. A text that is only passed on is copied as its code, and the output
 * shares the texts of the column that it comes from.
 */
export class BatchTarget {
  /** Where the texts of each column come from. */
  readonly shared: (ColumnSource | null)[] = [];

  constructor(
    readonly code: CodeBuilder,
    readonly batch: string,
    readonly schema: Schema,
  ) {
    const names = schema.flatMap((_, i) => [`o${i}`, `ov${i}`, `on${i}`]);
    if (names.length > 0) code.line(`let ${names.join(", ")};`);
    code.line(...this.hoist);
  }

  /** Makes room for row `k`, where `room` rows have room so far; `weights` may be replaced with the columns. */
  reserve(): void {
    const { batch } = this;
    this.code.line(
      "if (k === room) {",
      `${batch}.rows = k; ${batch}.reserve(1); room = ${batch}.capacity; weights = ${batch}.weights;`,
      ...this.hoist,
      "}",
    );
  }

  /** Reads the arrays of the columns; again whenever the batch has grown. */
  get hoist(): string[] {
    return this.schema.map(({ type, nullable }, i) => {
      const values = type === "text" || type === "json" ? "codes" : "values";
      const nulls = nullable ? ` on${i} = o${i}.nulls;` : "";
      return `o${i} = ${this.batch}.columns[${i}]; ov${i} = o${i}.${values};${nulls}`;
    });
  }

  write(row: readonly Value[]): void {
    for (const [i, spec] of this.schema.entries()) {
      const value = row[i] ?? { v: "0", n: "true" };
      this.shared[i] = value.text === undefined ? null : (value.source ?? null);
      this.#cell(i, spec.type, value);
    }
    this.code.line("k++;");
  }

  #cell(i: number, type: Schema[number]["type"], { v, n, text }: Value): void {
    if (n !== null) this.code.line(`on${i}[k] = ${n} ? 1 : 0;`);
    const given = (value: string) => (n === null ? value : `${n} ? 0 : ${value}`);
    switch (type) {
      case "text":
      case "json":
        this.code.line(`ov${i}[k] = ${given(text === undefined ? `o${i}.texts.add(${v})` : text.code)};`);
        return;
      case "bool":
        this.code.line(`ov${i}[k] = ${given(`(${v} ? 1 : 0)`)};`);
        return;
      case "numeric":
        this.code.line(`library.setNumeric(o${i}, k, ${given(v)});`);
        return;
      default:
        this.code.line(`ov${i}[k] = ${given(v)};`);
    }
  }
}

/** An empty batch that shares texts with the batches that are read. */
export function emptyOutput(
  schema: Schema,
  shared: readonly (ColumnSource | null)[],
  sources: Readonly<Record<string, { readonly columns: readonly Column[] }>>,
  capacity: number,
): Batch {
  const columns = schema.map((spec, i): Column => {
    const from = shared[i] ?? null;
    const source = from === null ? undefined : sources[from.batch]?.columns[from.column];
    return emptyColumn(spec, capacity, (source as TextColumn | undefined)?.texts);
  });
  return new Batch(schema, columns, null);
}
