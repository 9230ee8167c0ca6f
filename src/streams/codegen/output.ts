import type { Batch, Schema } from "../columns/index.js";
import type { RowStep } from "../plan/index.js";
import { CodeBuilder, type Value } from "./code.js";
import { functionOf, type RowErrors } from "./function.js";
import { columnsOf, rowLoop, rowSteps, rowsPerRow } from "./row.js";
import { BatchTarget, emptyOutput } from "./target.js";

/** From a batch to the rows that the steps let through, as another batch. Rows keep their weights. */
export type Transform = (input: Batch, errors: RowErrors) => Batch;

/** What the code sees of a row, made of the columns of the batch. */
export type RowView = (code: CodeBuilder, row: readonly Value[]) => readonly Value[];

/** Filters, projections and windows, fused: one pass over the rows, and no batch between steps. */
export function transform(
  input: Schema,
  steps: readonly RowStep[],
  output: Schema,
  view: RowView = (_, row) => row,
): Transform {
  let weighted: Transform | null = null;
  const plain = passOver(input, steps, output, view, false);
  return (batch, errors) => {
    if (batch.weights === null) return plain(batch, errors);
    weighted ??= passOver(input, steps, output, view, true);
    return weighted(batch, errors);
  };
}

function passOver(
  input: Schema,
  steps: readonly RowStep[],
  output: Schema,
  view: RowView,
  isWeighted: boolean,
): Transform {
  const code = new CodeBuilder();
  const columns = columnsOf(code, "input", input, "i");
  const target = new BatchTarget(code, "output", output);
  if (isWeighted) code.line("const given = input.weights, weights = output.weights;");
  code.line("let k = 0;");
  rowLoop(code, () =>
    rowSteps(code, steps, view(code, columns), (out) => {
      if (isWeighted) code.line("weights[k] = given[i];");
      target.write(out);
    }),
  );
  code.line("return k;");
  const run = functionOf(code);
  const widest = rowsPerRow(steps);
  return (batch, errors) => {
    const capacity = batch.rows * widest;
    const made = emptyOutput(output, target.shared, { input: batch }, capacity);
    if (isWeighted) made.weights = new Int32Array(capacity);
    made.rows = run(batch, made, errors);
    return made;
  };
}
