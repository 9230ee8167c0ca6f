import { column, type Schema } from "../columns/index.js";
import type { Aggregate, Expression, Plan } from "../plan/index.js";
import { columnAt } from "./types.js";

const BOOL = { type: "bool", scale: 0, nullable: false } as const;
const COUNT = { type: "int", scale: 0, nullable: false } as const;

/**
 * EXCEPT and INTERSECT as a grouping: rows of both sides are grouped by all columns, with counts of how many came from each side.
 * With ALL, equal rows of a side are numbered first, and the number is one more column: of l and r equal rows, EXCEPT ALL is
 * left with the numbers r+1 to l, and INTERSECT ALL with those up to the lesser of both.
 */
export function combined(
  sides: readonly Plan[],
  columns: Schema,
  operation: "except" | "intersect",
  all: boolean,
): Plan {
  if (!all) return once(sides, columns, operation);
  const numbered = sides.map((input): Plan => {
    const rank = { kind: "rank", name: "row_number", ...COUNT } as const;
    const with_ = [...columns, column("number", "int", false)];
    return {
      ...{ kind: "over", input, order: [], functions: [rank], cut: null, columns: with_ },
      keys: columns.map((_, index) => index),
    };
  });
  return first(once(numbered, [...columns, column("number", "int", false)], operation), columns);
}

function once(sides: readonly Plan[], columns: Schema, operation: "except" | "intersect"): Plan {
  const keys = columns.map((spec, index) => columnAt(spec, index));
  const inputs = sides.map((input, i): Plan => {
    const isLeft: Expression = { ...BOOL, kind: "constant", value: i === 0 };
    return {
      ...{ kind: "step", input, columns: [...columns, column("is_left", "bool", false)] },
      step: { kind: "project", outputs: [...keys, isLeft] },
    };
  });
  const ofSide: Expression = { ...BOOL, kind: "column", index: columns.length };
  const count = (filter: Expression): Aggregate => {
    return { ...COUNT, name: "count", operand: null, filter, distinct: false, list: null };
  };
  const counts = [column("left", "int", false), column("right", "int", false)];
  const grouped: Plan = {
    kind: "aggregate",
    input: { kind: "union", inputs, columns: [...columns, column("is_left", "bool", false)] },
    keys,
    aggregates: [count(ofSide), count({ ...BOOL, kind: "not", operand: ofSide })],
    columns: [...columns, ...counts],
  };
  const compared = (index: number, operator: ">" | "="): Expression => ({
    ...{ ...BOOL, kind: "compare", operator },
    left: { ...COUNT, kind: "column", index: columns.length + index },
    right: { ...COUNT, kind: "constant", value: 0 },
  });
  const operands = [compared(0, ">"), compared(1, operation === "except" ? "=" : ">")];
  const predicate: Expression = { ...BOOL, kind: "and", operands };
  const kept: Plan = {
    ...{ kind: "step", input: grouped, columns: grouped.columns },
    step: { kind: "filter", predicate },
  };
  return first(kept, columns);
}

/** Without the columns behind the wanted ones. */
function first(input: Plan, columns: Schema): Plan {
  const outputs = columns.map((spec, index) => columnAt(spec, index));
  return { kind: "step", input, step: { kind: "project", outputs }, columns };
}
