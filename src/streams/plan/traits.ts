import type { Schema } from "../columns/index.js";
import type { Expression } from "./expression.js";
import { joinBounds } from "./join-time.js";
import type { Plan, RowStep } from "./physical.js";

/**
 * What is known of an input of a standing query: a stream only grows, a changelog carries weights, a table is keyed, and its
 * upserts reach the query as the row that was (-1) and the row that is (+1).
 */
export interface InputSpec {
  readonly schema: Schema;
  /** The column of the event time, whose watermark the query is told. */
  readonly timeColumn: number | null;
  readonly kind: "stream" | "changelog" | "table";
  readonly key: readonly number[];
}

export type Inputs = Readonly<Record<string, InputSpec>>;

/** When results come: once, at the end of the input; with every change; or each window once, when it is complete. */
export type EmitMode = "once" | "changes" | "on window close";

/**
 * A column whose values follow the watermark: at the watermark w, no row comes any more, added or taken back, whose value plus
 * the delay is below w, nor one where it is w if the bound is strict. Rows that agree in such a column are complete
 * then, and what is kept of them can be freed.
 */
export interface TimeBound {
  readonly index: number;
  readonly delayMs: number;
  readonly isStrict: boolean;
}

export interface Traits {
  /** No row is ever taken back. */
  readonly isAppendOnly: boolean;
  readonly bounds: readonly TimeBound[];
}

/** What is known of the rows that a plan gives. */
export function traitsOf(plan: Plan, inputs: Inputs, mode: EmitMode): Traits {
  const again = (input: Plan) => traitsOf(input, inputs, mode);
  switch (plan.kind) {
    case "scan": {
      const input = Object.hasOwn(inputs, plan.table) ? inputs[plan.table] : undefined;
      const time = input?.timeColumn ?? null;
      return {
        isAppendOnly: input === undefined || input.kind === "stream",
        bounds: time === null ? [] : [{ index: time, delayMs: 0, isStrict: false }],
      };
    }
    case "unit":
      return { isAppendOnly: true, bounds: [] };
    case "step": {
      const { isAppendOnly, bounds } = again(plan.input);
      return { isAppendOnly, bounds: stepBounds(plan.step, bounds, plan.input.columns.length) };
    }
    case "session": {
      // A session changes as long as a row may come before its end; its rows are given again then, however old they are. A row
      // that is taken back may leave a session behind that has ended already.
      const { isAppendOnly, bounds } = again(plan.input);
      const isBound = isAppendOnly && bounds.some(({ index }) => index === plan.time);
      const end = { index: plan.input.columns.length + 1, delayMs: 0, isStrict: true };
      return { isAppendOnly: mode !== "changes" && isAppendOnly, bounds: isBound ? [end] : [] };
    }
    case "aggregate": {
      const input = again(plan.input);
      const bounds = plan.keys.flatMap((key, index) => boundOf(key, index, input.bounds));
      const isDistinct = plan.keys.length > 0 && plan.aggregates.length === 0;
      const isFinal = mode === "once" || (mode === "on window close" && bounds.length > 0);
      const isGrowing = isDistinct && input.isAppendOnly && plan.retention === undefined;
      return { isAppendOnly: isFinal || isGrowing, bounds };
    }
    case "join": {
      const sides = { left: again(plan.left), right: again(plan.right) };
      const isGrowing = plan.join === "inner" || plan.join === "semi";
      const isAppendOnly = sides.left.isAppendOnly && sides.right.isAppendOnly && isGrowing;
      return {
        isAppendOnly: mode === "once" || isAppendOnly || plan.isTemporal,
        bounds: joinBounds(plan, sides),
      };
    }
    case "union": {
      const all = plan.inputs.map(again);
      const [first, ...rest] = all.map(({ bounds }) => bounds);
      return {
        isAppendOnly: all.every(({ isAppendOnly }) => isAppendOnly),
        bounds: (first ?? []).flatMap((bound) => widest(bound, rest)),
      };
    }
    case "over": {
      // A row of a partition comes and goes when any other row of it does: only what all of them share follows the watermark.
      const bounds = again(plan.input).bounds.filter(({ index }) => plan.keys.includes(index));
      const isFinal = mode === "once" || (mode === "on window close" && bounds.length > 0);
      return { isAppendOnly: isFinal, bounds };
    }
    case "sort":
      return { isAppendOnly: mode === "once", bounds: [] };
  }
}

function stepBounds(step: RowStep, bounds: readonly TimeBound[], width: number): readonly TimeBound[] {
  switch (step.kind) {
    case "filter":
      return bounds;
    case "project":
      return step.outputs.flatMap((output, index) => boundOf(output, index, bounds));
    case "window": {
      const time = bounds.find(({ index }) => index === step.time);
      if (time === undefined) return bounds;
      // A window is complete when the watermark reaches its end.
      const { delayMs } = time;
      return [
        ...bounds,
        { index: width, delayMs: delayMs + step.sizeMs, isStrict: true },
        { index: width + 1, delayMs, isStrict: true },
      ];
    }
  }
}

/** How long the spans are at most that `date_trunc` cuts time into. */
const DAY_MS = 86_400_000;
const SPANS_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 31 * DAY_MS,
  quarter: 92 * DAY_MS,
  year: 366 * DAY_MS,
};

/** The bound of an expression over bound columns, as column `index`: a time itself, cut off, or moved by a constant. */
function boundOf(expression: Expression, index: number, bounds: readonly TimeBound[]): TimeBound[] {
  if (expression.kind === "column")
    return bounds.filter((bound) => bound.index === expression.index).map((bound) => ({ ...bound, index }));
  if (expression.kind === "cast" && expression.type === expression.operand.type)
    return boundOf(expression.operand, index, bounds);
  if (expression.kind === "call" && expression.name === "date_trunc") {
    const [unit, time] = expression.operands;
    if (unit?.kind !== "constant" || time === undefined) return [];
    const spanMs = SPANS_MS[String(unit.value).toLowerCase()];
    return spanMs === undefined
      ? []
      : boundOf(time, index, bounds).map(({ delayMs }) => ({
          index,
          delayMs: delayMs + spanMs,
          isStrict: true,
        }));
  }
  if (
    expression.kind === "arithmetic" &&
    expression.type === "timestamp" &&
    expression.right.kind === "constant" &&
    (expression.operator === "+" || expression.operator === "-")
  ) {
    const byMs = Number(expression.right.value) * (expression.operator === "+" ? 1 : -1);
    return boundOf(expression.left, index, bounds).map((bound) => ({
      ...bound,
      delayMs: bound.delayMs - byMs,
    }));
  }
  return [];
}

/** The bound that holds for a column of all inputs. */
function widest(bound: TimeBound, others: readonly (readonly TimeBound[])[]): TimeBound[] {
  let { delayMs, isStrict } = bound;
  for (const bounds of others) {
    const same = bounds.find(({ index }) => index === bound.index);
    if (same === undefined) return [];
    isStrict =
      same.delayMs === delayMs
        ? isStrict && same.isStrict
        : (same.delayMs > delayMs ? same : { isStrict }).isStrict;
    delayMs = Math.max(delayMs, same.delayMs);
  }
  return [{ index: bound.index, delayMs, isStrict }];
}
