import { invariant } from "../../errors.js";
import type { ColumnSpec, Schema } from "../columns/index.js";
import type { CodeBuilder, Value } from "./code.js";

/** What the parts of one column of a key are called. */
interface Names {
  readonly k: string;
  readonly u: string;
  readonly values: string;
  readonly nulls: string;
  readonly pool: string;
}

/**
 * The key of a table, in generated code: from the values of a row to the numbers that `KeyedTable.find` takes. The code of a
 * text in the table's pool is looked up once per batch for each of the batch's own codes.
 */
export class GeneratedKey {
  readonly #code: CodeBuilder;
  readonly #table: string;
  readonly #schema: Schema;
  readonly #names: readonly Names[];

  constructor(code: CodeBuilder, table: string, schema: Schema) {
    this.#code = code;
    this.#table = table;
    this.#schema = schema;
    this.#names = schema.map(() => ({
      k: code.name("k"),
      u: code.name("u"),
      values: code.name("kv"),
      nulls: code.name("kn"),
      pool: code.name("p"),
    }));
    const names = this.#names.flatMap(({ values, nulls }, i) =>
      schema[i]?.nullable ? [values, nulls] : [values],
    );
    if (names.length > 0) code.line(`let ${names.join(", ")};`);
    for (const [i, { pool }] of this.#names.entries())
      if (isText(schema[i]?.type)) code.line(`const ${pool} = ${table}.pool(${i});`);
  }

  /** The names of the parts of one column of the key. */
  names(index: number): Names {
    const names = this.#names[index];
    invariant(names !== undefined, `a key has no column ${index}`);
    return names;
  }

  get hasTexts(): boolean {
    return this.#schema.some(({ type }) => isText(type));
  }

  /** Reads the arrays of the key's columns. */
  get hoist(): string[] {
    return this.#each(({ type, nullable }, i, { values, nulls }) => {
      const column = `${this.#table}.columns[${i}]`;
      return [
        `${values} = ${column}.${isText(type) ? "codes" : "values"};`,
        ...(nullable ? [`${nulls} = ${column}.nulls;`] : []),
      ];
    });
  }

  compute(values: readonly Value[]): void {
    this.#each(({ type, nullable }, i, { k, u, pool }) => {
      const value = values[i] ?? { v: "0", n: null };
      if (nullable) this.#code.line(`const ${u} = ${value.n === null ? "0" : `${value.n} ? 1 : 0`};`);
      if (isText(type)) this.#text(k, pool, value);
      else
        this.#code.line(
          `const ${k} = ${unlessNull(value, type === "bool" ? `(${value.v} ? 1 : 0)` : value.v)};`,
        );
      return [];
    });
  }

  get find(): string {
    const operands = this.#each(({ nullable }, _, { k, u }) => (nullable ? [k, u] : [k]));
    return `${this.#table}.find(${[this.#table, ...operands].join(", ")})`;
  }

  /** Writes the key that was computed into a row. */
  store(row: string): string[] {
    return this.#each(({ type, nullable }, i, { k, u, values, nulls }) => [
      type === "numeric"
        ? `library.setNumeric(${this.#table}.columns[${i}], ${row}, ${k});`
        : `${values}[${row}] = ${k};`,
      ...(nullable ? [`${nulls}[${row}] = ${u};`] : []),
    ]);
  }

  #text(k: string, pool: string, value: Value): void {
    const { text } = value;
    if (text === undefined) {
      this.#code.line(`const ${k} = ${unlessNull(value, `${pool}.intern(${value.v})`)};`);
      return;
    }
    const known = this.#code.name("m");
    this.#code.before(`const ${known} = new Int32Array(${text.texts}.size).fill(-1);`);
    this.#code.line(`let ${k} = 0;`);
    this.#code.block(value.n === null ? "" : `if (!${value.n})`, () =>
      this.#code.line(
        `${k} = ${known}[${text.code}];`,
        `if (${k} < 0) ${known}[${text.code}] = ${k} = ${pool}.intern(${text.texts}.get(${text.code}));`,
      ),
    );
  }

  #each(write: (spec: ColumnSpec, i: number, names: Names) => string[]): string[] {
    return this.#schema.flatMap((spec, i) => {
      const names = this.#names[i];
      return names === undefined ? [] : write(spec, i, names);
    });
  }
}

function isText(type: ColumnSpec["type"] | undefined): boolean {
  return type === "text" || type === "json";
}

function unlessNull({ n }: Value, v: string): string {
  return n === null ? v : `${n} ? 0 : ${v}`;
}
