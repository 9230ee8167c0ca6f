import type { Batch, Schema } from "../columns/index.js";
import type { Step } from "../plan/index.js";
import { Code, type Value } from "./code.js";
import { functionOf, type RowErrors } from "./function.js";
import { columnsOf, rowLoop, rowSteps } from "./row.js";
import { emptyOutput, Target } from "./target.js";

/** From a batch to the rows that the steps let through, as another batch. */
export type Transform = (input: Batch, errors: RowErrors) => Batch;

/** Filters, projections and windows, fused: one pass over the rows, and no batch between steps. */
export function transform(
  input: Schema,
  steps: readonly Step[],
  output: Schema,
  view: (code: Code, row: readonly Value[]) => readonly Value[] = (_, row) => row,
): Transform {
  const code = new Code();
  const row = view(code, columnsOf(code, "input", input, "i"));
  const target = new Target(code, "output", output);
  code.line("let k = 0;");
  rowLoop(code, () => rowSteps(code, steps, row, (out) => target.write(out)));
  code.line("return k;");
  const run = functionOf(code);
  const widest = steps.reduce(
    (times, step) => (step.kind === "window" ? times * (step.sizeMs / step.slideMs) : times),
    1,
  );
  return (batch, errors) => {
    const made = emptyOutput(output, target.shared, { input: batch }, batch.rows * widest);
    made.rows = run(batch, made, errors);
    return made;
  };
}
