import type { PlanExpression } from "../../sql/index.js";

export type Outer = Extract<PlanExpression, { kind: "column" }>;

/** Whether columns of a query around are used; `depth` counts the queries between. */
export function looksOut(part: unknown, depth = 0): boolean {
  if (Array.isArray(part)) return part.some((each) => looksOut(each, depth));
  if (typeof part !== "object" || part === null) return false;
  if (isColumn(part)) return part.depth > depth;
  return Object.entries(part).some(([name, each]) => looksOut(each, below(part, name, depth)));
}

/** The columns of the query around that are used. */
export function outerColumns(part: unknown): readonly Outer[] {
  const found = new Map<number, Outer>();
  outward(part, (column) => {
    if (column.depth > 0) found.set(column.index, column);
    return column;
  });
  return [...found.values()];
}

/**
 * The same expression with other columns, also inside of its subqueries, as far as these use columns from outside of themselves. `place` is
 * told and gives columns as if they stood outside of all subqueries.
 */
export function outward<T>(part: T, place: (column: Outer) => PlanExpression, depth = 0): T {
  return mapped(part, place, depth) as T;
}

function mapped(part: unknown, place: (column: Outer) => PlanExpression, depth: number): unknown {
  if (Array.isArray(part)) return part.map((each) => mapped(each, place, depth));
  if (typeof part !== "object" || part === null) return part;
  if (isColumn(part)) {
    if (part.depth < depth) return part;
    const made = place({ ...part, depth: part.depth - depth });
    return depth === 0 ? made : deeper(made, depth);
  }
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [name, mapped(each, place, below(part, name, depth))]),
  );
}

/** What was said of the outside, as it is said inside of so many subqueries. */
function deeper(made: PlanExpression, depth: number): unknown {
  return outward(made, (column) => ({ ...column, depth: column.depth + depth }));
}

function isColumn(part: object): part is Outer {
  return "kind" in part && part.kind === "column";
}

function below(part: object, name: string, depth: number): number {
  const isSubquery =
    "kind" in part && (part.kind === "exists" || part.kind === "in" || part.kind === "scalar");
  return name === "plan" && isSubquery ? depth + 1 : depth;
}
