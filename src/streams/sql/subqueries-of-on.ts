import type { PlanExpression, LogicalPlan as SqlPlan } from "../../sql/index.js";
import type { Plan } from "../plan/index.js";
import { outward } from "./outer-columns.js";
import { type Lowering, withSubqueries } from "./subquery-joins.js";
import { columnAt } from "./types.js";

type Join = Extract<SqlPlan, { kind: "join" }>;
type Meet = (left: Plan, right: Plan, on: readonly PlanExpression[]) => Plan;

/**
 * An outer join whose ON has subqueries: each is asked of the rows of the side whose columns it uses, before they meet those of the other
 * side, and its answer is a column more of that side, which is left out behind the join.
 */
export function withSidesAsked(
  plan: Join,
  nested: readonly PlanExpression[],
  lowering: Lowering,
  meet: Meet,
): Plan {
  const width = plan.left.columns.length;
  let [left, right] = [lowering.part(plan.left), lowering.part(plan.right)];
  const rightWidth = right.columns.length;
  const answers = nested.map((condition) => {
    const sides = sidesOf(condition, width);
    if (sides === "both")
      return lowering.refuse(
        condition.span,
        "In ON of an outer join, a condition with a subquery uses the columns of one side. Join with a subquery of FROM that has the answer as a column.",
      );
    if (sides === "left") {
      const made = withSubqueries(left, [condition], lowering);
      left = made.input;
      return { side: sides, expressions: made.expressions } as const;
    }
    const own = outward(condition, (column) => ({ ...column, index: column.index - width }));
    const made = withSubqueries(right, [own], lowering);
    right = made.input;
    return { side: sides, expressions: made.expressions } as const;
  });
  const atRight = left.columns.length;
  const on = answers.flatMap(({ side, expressions }) =>
    side === "left" ? expressions : expressions.map((each) => movedBeyond(each, 0, atRight)),
  );
  const made = meet(left, right, on);
  const kept = [...Array(width).keys(), ...Array.from({ length: rightWidth }, (_, i) => atRight + i)];
  const columns = kept.flatMap((index) => made.columns[index] ?? []);
  const outputs = columns.map((spec, i) => columnAt(spec, kept[i] ?? 0));
  return { kind: "step", input: made, step: { kind: "project", outputs }, columns };
}

/** Which side an expression is about; without columns it is the left one. */
function sidesOf(condition: PlanExpression, width: number): "left" | "right" | "both" {
  const sides = new Set<"left" | "right">();
  outward(condition, (column) => {
    sides.add(column.index < width ? "left" : "right");
    return column;
  });
  const [first = "left", second] = sides;
  return second === undefined ? first : "both";
}

/** The same expression where the columns from `width` on begin at another place. */
export function movedBeyond(expression: PlanExpression, width: number, at: number): PlanExpression {
  return outward(expression, (column) =>
    column.index < width ? column : { ...column, index: column.index - width + at },
  );
}
