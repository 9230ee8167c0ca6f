import type { LibraryName } from "./lib/index.js";

/** A column of one of the batches that the code reads. */
export interface ColumnSource {
  readonly batch: string;
  readonly column: number;
}

/** A value in generated code. Both parts are expressions without effects, cheap enough to be written twice. */
export interface Value {
  readonly v: string;
  /** Whether it is NULL, or `null` if it never is. */
  readonly n: string | null;
  /** The column that it stands in, if it was only passed on. */
  readonly source?: ColumnSource;
  /** Of a text in a column of a batch: the names of its texts and code, so that copying decodes nothing. */
  readonly text?: { readonly texts: string; readonly code: string };
}

/**
 * Generated code as it grows: lines, names for what they compute, and the constants that they need. Constants are
 * parameters and not part of the text, so that queries which differ in constants only share one function, which stays hot.
 * Every word of the text comes from this folder: nothing that a user wrote gets into it but numbers of columns.
 */
export class CodeBuilder {
  #lines: string[] = [];
  readonly #before: string[] = [];
  #names = 0;
  /** The expressions that have names, by the blocks that are open. */
  readonly #scopes: Map<string, string>[] = [new Map()];
  readonly constants: unknown[] = [];
  /** Something in it can throw a `RowError`. */
  canFail = false;

  get text(): string {
    return this.#lines.join("\n");
  }

  line(...lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  /** A line that stands before the loop over rows, written while the loop's body is. */
  before(line: string): void {
    this.#before.push(line);
  }

  /** The lines of `before`, once. */
  takeBefore(): readonly string[] {
    return this.#before.splice(0);
  }

  /** A name that is not used yet. */
  name(prefix = "x"): string {
    return `${prefix}${this.#names++}_`;
  }

  constant(value: unknown): string {
    const known = this.constants.indexOf(value);
    return `constants[${known >= 0 ? known : this.constants.push(value) - 1}]`;
  }

  /** A call of the library; `fails` if it may throw a `RowError`. */
  call(name: LibraryName, operands: readonly string[], fails = false): string {
    if (fails) this.canFail = true;
    return `library.${name}(${operands.join(", ")})`;
  }

  /** Gives what was computed a name, unless it is one. */
  bind(expression: string): string {
    if (/^\w+$/.test(expression)) return expression;
    const name = this.name();
    this.line(`const ${name} = ${expression};`);
    return name;
  }

  /**
   * The same for an expression that gives the same all over the row: where it was named before in this block, or in one around it, it
   * is not computed again.
   */
  once(expression: string): string {
    for (const scope of this.#scopes) {
      const known = scope.get(expression);
      if (known !== undefined) return known;
    }
    const name = this.bind(expression);
    this.#scopes.at(-1)?.set(expression, name);
    return name;
  }

  /** What `write` writes, apart: the caller decides where it goes. */
  apart<T>(write: () => T): { readonly lines: readonly string[]; readonly result: T } {
    const before = this.#lines;
    this.#lines = [];
    try {
      const result = this.#scoped(write);
      return { lines: this.#lines, result };
    } finally {
      this.#lines = before;
    }
  }

  block(head: string, write: () => void): void {
    this.line(`${head} {`);
    this.#scoped(write);
    this.line("}");
  }

  #scoped<T>(write: () => T): T {
    this.#scopes.push(new Map());
    try {
      return write();
    } finally {
      this.#scopes.pop();
    }
  }
}

export function anyNull(values: readonly Value[]): string | null {
  const flags = values.flatMap(({ n }) => n ?? []);
  return flags.length === 0 ? null : flags.length === 1 ? (flags[0] ?? null) : `(${flags.join(" || ")})`;
}
