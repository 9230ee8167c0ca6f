import type { CodeBuilder } from "./code.js";
import { LIBRARY, RowError } from "./lib/index.js";

const SAMPLE_MAX = 10;

/** Rows that an expression refused: how many, and the first errors that differ. */
export class RowErrors {
  count = 0;
  readonly sample: RowError[] = [];

  get first(): RowError | null {
    return this.sample[0] ?? null;
  }

  /** Called by generated code with whatever was thrown. */
  add(error: unknown): void {
    if (!(error instanceof RowError)) throw error;
    this.count++;
    if (this.sample.length < SAMPLE_MAX && this.sample.every(({ message }) => message !== error.message))
      this.sample.push(error);
  }
}

type Generated = (
  input: unknown,
  output: unknown,
  constants: readonly unknown[],
  library: typeof LIBRARY,
  errors: RowErrors,
) => number;

const made = new Map<string, Generated>();
const MADE_MAX = 5000;

/**
 * The function of some code. Plans of one shape give one text, and one text gives one function, whose constants come with
 * each call: thousands of small queries that differ in constants run code that is hot.
 */
export function functionOf(
  code: CodeBuilder,
): (input: unknown, output: unknown, errors: RowErrors) => number {
  const { text, constants } = code;
  let generated = made.get(text);
  if (generated === undefined) {
    if (made.size >= MADE_MAX) made.clear();
    generated = new Function("input", "output", "constants", "library", "errors", text) as Generated;
    made.set(text, generated);
  }
  const run = generated;
  return (input, output, errors) => run(input, output, constants, LIBRARY, errors);
}
