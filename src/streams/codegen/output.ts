import { Batch, type Column, type Schema } from "../columns/index.js";
import type { RowStep } from "../plan/index.js";
import { CodeBuilder, type Value } from "./code.js";
import { functionOf, type RowErrors } from "./function.js";
import { columnsOf, rowLoop, rowSteps } from "./row.js";
import { BatchTarget, emptyOutput } from "./target.js";

/** From a batch to the rows that the steps let through, as another batch. Rows keep their weights. */
export type Transform = (input: Batch, errors: RowErrors) => Batch;

/** What the code sees of a row, made of the columns of the batch. */
export type RowView = (code: CodeBuilder, row: readonly Value[]) => readonly Value[];

const ROWS_LEAST = 16;

/** Filters, projections and windows, fused: one pass over the rows, and no batch between steps. */
export function transform(
  input: Schema,
  steps: readonly RowStep[],
  output: Schema,
  view: RowView = (_, row) => row,
): Transform {
  const columns = columnwise(input, steps, output, view);
  if (columns !== null) return columns;
  let weighted: Transform | null = null;
  const plain = passOver(input, steps, output, view, false);
  return (batch, errors) => {
    if (batch.weights === null) return plain(batch, errors);
    weighted ??= passOver(input, steps, output, view, true);
    return weighted(batch, errors);
  };
}

/**
 * Where each row gives exactly one, columns that are only passed on are those of the input, and not copied: batches that were
 * handed on are not changed. `null` where rows can be left out.
 */
function columnwise(
  input: Schema,
  steps: readonly RowStep[],
  output: Schema,
  view: RowView,
): Transform | null {
  if (steps.some(({ kind }) => kind !== "project")) return null;
  const passed = passedOn(input, steps, output, view);
  if (passed === null) return null;
  const made = output.filter((_, i) => passed[i] === null);
  const code = new CodeBuilder();
  const columns = columnsOf(code, "input", input, "i");
  const target = new BatchTarget(code, "output", made);
  code.line("let k = 0;");
  rowLoop(code, () =>
    rowSteps(code, steps, view(code, columns), (row) =>
      target.write(row.filter((_, i) => passed[i] === null)),
    ),
  );
  code.line("return k;");
  const run = functionOf(code);
  return (batch, errors) => {
    const { rows, weights } = batch;
    const computed = emptyOutput(made, target.shared, { input: batch }, rows);
    if (made.length > 0) run(batch, computed, errors);
    let at = 0;
    const all = passed.map(
      (from) => (from === null ? computed.columns[at++] : batch.columns[from]) as Column,
    );
    const result = new Batch(output, all, weights);
    result.rows = rows;
    return result;
  };
}

/** For each column of the output the one of the input that it is, or `null` if it is computed; `null` if a row can be refused. */
function passedOn(
  input: Schema,
  steps: readonly RowStep[],
  output: Schema,
  view: RowView,
): readonly (number | null)[] | null {
  const code = new CodeBuilder();
  let passed: (number | null)[] = [];
  rowSteps(code, steps, view(code, columnsOf(code, "input", input, "i")), (row) => {
    passed = output.map(({ type, nullable }, i) => {
      const column = row[i]?.source?.column ?? null;
      const from = column === null ? undefined : input[column];
      return from?.type === type && from.nullable === nullable ? column : null;
    });
  });
  return code.canFail ? null : passed;
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
  code.line("let k = 0, room = output.capacity, weights = output.weights;");
  if (isWeighted) code.line("const given = input.weights;");
  rowLoop(code, () =>
    rowSteps(code, steps, view(code, columns), (out) => {
      target.reserve();
      if (isWeighted) code.line("weights[k] = given[i];");
      target.write(out);
    }),
  );
  code.line("return k;");
  const run = functionOf(code);
  // The output grows while it is written; it begins with room for what the last batch gave.
  let expected = ROWS_LEAST;
  return (batch, errors) => {
    const capacity = Math.min(batch.rows, expected);
    const made = emptyOutput(output, target.shared, { input: batch }, capacity);
    if (isWeighted) made.weights = new Int32Array(capacity);
    made.rows = run(batch, made, errors);
    expected = Math.max(ROWS_LEAST, Math.ceil(1.25 * made.rows));
    return made;
  };
}
