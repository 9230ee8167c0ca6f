import { type JoinPlan, type RowErrors, type Side, transform } from "../codegen/index.js";
import { Batch, gathered, type Schema } from "../columns/index.js";
import type { RowStep } from "../plan/index.js";
import type { Bag, WeightedRows } from "../tables/index.js";

const FALSE = 1;
const TRUE = 2;
const UNKNOWN = 3;

/** What rows of one side emit by themselves, for rows that were changed in a round. */
export interface Verdicts {
  (rows: Bag | WeightedRows, errors: RowErrors): Batch | null;
  /** After a load: what was emitted before follows from what is counted. */
  restore(rows: Bag | WeightedRows): void;
}

/** Rows to emit: which, how often, and with which truth value. */
interface Gathered {
  readonly rows: number[];
  readonly weights: number[];
  readonly marks: number[];
}

/**
 * The rows of a side that come out by themselves, depending on the rows that meet them: in an outer join with NULLs if there are
 * none, in a semi join if there is one, in an anti join if there is none, and in a mark join always, with a column that says
 * whether there is one.
 */
export function ownRows(
  plan: JoinPlan,
  side: Side,
  after: { readonly steps: readonly RowStep[]; readonly output: Schema },
): Verdicts {
  const own = plan[side].columns;
  const other = plan[side === "left" ? "right" : "left"].columns;
  const nothing = other.map(({ type }) => ({
    v: type === "text" || type === "json" ? '""' : "0",
    n: "true",
  }));
  const isMark = plan.join === "mark";
  const isOuter = !isMark && plan.join !== "semi" && plan.join !== "anti";
  const schema = isMark ? plan.columns : own;
  const run = transform(schema, after.steps, after.output, (_, row) =>
    !isOuter ? row : side === "left" ? [...row, ...nothing] : [...nothing, ...row],
  );
  /** What a row counts by itself: its mark if it comes out, else 0. */
  const verdict = (matches: number, unknown: number): number => {
    if (isMark) return matches > 0 ? TRUE : unknown > 0 ? UNKNOWN : FALSE;
    return (plan.join === "semi") === matches > 0 ? FALSE : 0;
  };

  const verdicts = (rows: Bag | WeightedRows, errors: RowErrors): Batch | null => {
    const isBag = !("table" in rows);
    const found: Gathered = { rows: [], weights: [], marks: [] };
    if (isBag) gatherAll(rows, verdict, found);
    else gatherChanged(rows, verdict, found);
    if (found.rows.length === 0) return null;
    const batch = gathered(viewOf(rows, own), Int32Array.from(found.rows), schema);
    if (!isBag) batch.weights = Int32Array.from(found.weights);
    if (isMark) writeMarks(batch, found.marks);
    return run(batch, errors);
  };

  const restore = (rows: Bag | WeightedRows): void => {
    if (!("table" in rows)) return;
    const { weights, matches, unknown } = rows;
    for (let row = 0; row < rows.rows; row++) {
      if (!rows.table.isLive(row)) continue;
      const mark = verdict(matches[row] as number, unknown[row] as number);
      rows.marks[row] = mark;
      rows.shown[row] = mark === 0 ? 0 : (weights[row] as number);
    }
  };
  return Object.assign(verdicts, { restore });
}

type Verdict = (matches: number, unknown: number) => number;

/** The end of a one-shot query: every row has its verdict. */
function gatherAll({ rows, matches, unknown }: Bag, verdict: Verdict, found: Gathered): void {
  for (let row = 0; row < rows; row++) {
    const mark = verdict(matches[row] as number, unknown[row] as number);
    if (mark === 0) continue;
    found.rows.push(row);
    found.marks.push(mark);
  }
}

/** The difference between what a row emitted before and what it counts for now. */
function gatherChanged(rows: WeightedRows, verdict: Verdict, found: Gathered): void {
  const { weights, matches, unknown, shown, marks } = rows;
  const emit = (row: number, weight: number, mark: number) => {
    if (weight === 0) return;
    found.rows.push(row);
    found.weights.push(weight);
    found.marks.push(mark);
  };
  for (const row of rows.dirty) {
    const mark = verdict(matches[row] as number, unknown[row] as number);
    const [now, before] = [mark === 0 ? 0 : (weights[row] as number), shown[row] as number];
    if (mark === marks[row]) emit(row, now - before, mark);
    else {
      emit(row, -before, marks[row] as number);
      emit(row, now, mark);
    }
    shown[row] = now;
    marks[row] = mark;
  }
}

function viewOf(rows: Bag | WeightedRows, schema: Schema): Batch {
  const view = new Batch(schema, rows.columns.slice(0, schema.length), null);
  view.rows = rows.rows;
  return view;
}

function writeMarks(batch: Batch, marks: readonly number[]): void {
  const last = batch.columns.at(-1);
  if (last?.storage !== "bool") return;
  for (const [i, mark] of marks.entries()) {
    last.values[i] = mark === TRUE ? 1 : 0;
    if (last.nulls !== null) last.nulls[i] = mark === UNKNOWN ? 1 : 0;
  }
}
