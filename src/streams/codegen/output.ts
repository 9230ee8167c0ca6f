import { Batch, type Column, emptyColumn, type Schema, type TextColumn } from "../columns/index.js";
import type { Step } from "../plan/index.js";
import { Code, type Value } from "./code.js";
import { functionOf, type RowErrors } from "./function.js";
import { columnsOf, rowLoop, rowSteps } from "./row.js";

/** From a batch to the rows that the steps let through, as another batch. */
export type Transform = (input: Batch, errors: RowErrors) => Batch;

/**
 * Filters and projections, fused: one pass over the rows, no batch between steps. A text that is only passed on is copied as
 * its code, and the output shares the texts of the input.
 */
export function transform(
  input: Schema,
  steps: readonly Step[],
  output: Schema,
  view: (code: Code, row: readonly Value[]) => readonly Value[] = (_, row) => row,
): Transform {
  const code = new Code();
  const row = view(code, columnsOf(code, "input", input, "i"));
  const targets = output.map((_, index) => `o${index}`);
  for (const [index, name] of targets.entries()) code.line(`const ${name} = output.columns[${index}];`);
  code.line("let k = 0;");
  const shared: (number | null)[] = [];
  rowLoop(code, () =>
    rowSteps(code, steps, row, (out) => {
      for (const [index, { type }] of output.entries()) {
        const value = out[index] ?? { v: "0", n: "true" };
        shared[index] = value.text?.column ?? null;
        write(code, targets[index] ?? "", type, value);
      }
      code.line("k++;");
    }),
  );
  code.line("return k;");
  const run = functionOf(code);
  const widest = steps.reduce(
    (times, step) => (step.kind === "window" ? times * (step.sizeMs / step.slideMs) : times),
    1,
  );
  return (batch, errors) => {
    const made = emptyLike(batch, output, shared, batch.rows * widest);
    made.rows = run(batch, made, errors);
    return made;
  };
}

function write(code: Code, target: string, type: Schema[number]["type"], { v, n, text }: Value): void {
  if (n !== null) code.line(`${target}.nulls[k] = ${n} ? 1 : 0;`);
  const guarded = (value: string, none: string) => (n === null ? value : `${n} ? ${none} : ${value}`);
  switch (type) {
    case "text":
    case "json":
      code.line(
        `${target}.codes[k] = ${guarded(text === undefined ? `${target}.texts.add(${v})` : text.code, "0")};`,
      );
      return;
    case "bool":
      code.line(`${target}.values[k] = ${guarded(`(${v} ? 1 : 0)`, "0")};`);
      return;
    case "numeric":
      code.line(`library.setNumeric(${target}, k, ${guarded(v, "0")});`);
      return;
    default:
      code.line(`${target}.values[k] = ${guarded(v, "0")};`);
  }
}

function emptyLike(
  input: Batch,
  output: Schema,
  shared: readonly (number | null)[],
  capacity: number,
): Batch {
  const columns = output.map((spec, index): Column => {
    const from = shared[index] ?? null;
    return emptyColumn(spec, capacity, from === null ? undefined : (input.columns[from] as TextColumn).texts);
  });
  return new Batch(output, columns, null);
}
