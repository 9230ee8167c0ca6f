import type { Expression } from "./expression.js";
import type { Cut, Plan } from "./physical.js";
import { conjuncts } from "./rewrite.js";

/**
 * Top-n: `WHERE n <= 3` over a subquery with `ROW_NUMBER() OVER (…) AS n`. The filter stays where it is; the operator below learns
 * that it need not give, nor keep, what the filter would drop.
 */
export function withCuts(plan: Plan): Plan {
  const made = mapInputs(plan, withCuts);
  if (made.kind !== "step" || made.step.kind !== "filter") return made;
  return conjuncts(made.step.predicate).reduce<Plan>((cut, condition) => {
    const limit = upperBound(condition);
    return limit === null ? cut : cutBelow(cut, limit.index, limit.most);
  }, made);
}

/** The same operator over other inputs; the operator itself if they are none. */
export function mapInputs(plan: Plan, map: (input: Plan) => Plan): Plan {
  switch (plan.kind) {
    case "scan":
    case "unit":
      return plan;
    case "join": {
      const [left, right] = [map(plan.left), map(plan.right)];
      return left === plan.left && right === plan.right ? plan : { ...plan, left, right };
    }
    case "union": {
      const inputs = plan.inputs.map(map);
      return inputs.every((input, i) => input === plan.inputs[i]) ? plan : { ...plan, inputs };
    }
    default: {
      const input = map(plan.input);
      return input === plan.input ? plan : { ...plan, input };
    }
  }
}

/** A column that is at most some integer. */
function upperBound(condition: Expression): { readonly index: number; readonly most: number } | null {
  if (condition.kind !== "compare") return null;
  const { left, right, operator } = condition;
  const [index, value] = [columnOf(left), integerOf(right)];
  if (index !== null && value !== null) {
    if (operator === "<=" || operator === "=") return { index, most: value };
    return operator === "<" ? { index, most: value - 1 } : null;
  }
  const [other, least] = [columnOf(right), integerOf(left)];
  if (other === null || least === null) return null;
  if (operator === ">=" || operator === "=") return { index: other, most: least };
  return operator === ">" ? { index: other, most: least - 1 } : null;
}

function columnOf(expression: Expression): number | null {
  if (expression.kind === "cast" && expression.type === "int") return columnOf(expression.operand);
  return expression.kind === "column" && expression.type === "int" ? expression.index : null;
}

function integerOf(expression: Expression): number | null {
  if (expression.kind === "cast" && expression.type === "int") return integerOf(expression.operand);
  if (expression.kind === "call" && (expression.name === "int4" || expression.name === "int2"))
    return integerOf(expression.operands[0] ?? expression);
  if (expression.kind !== "constant" || expression.type !== "int") return null;
  return typeof expression.value === "number" ? expression.value : null;
}

/** Follows a column down through projections and filters to the rank that it is. */
function cutBelow(plan: Plan, index: number, most: number): Plan {
  if (plan.kind === "step") {
    if (plan.step.kind === "window") return plan;
    const output = plan.step.kind === "project" ? plan.step.outputs[index] : undefined;
    const below = plan.step.kind === "filter" ? index : output === undefined ? null : columnOf(output);
    return below === null ? plan : { ...plan, input: cutBelow(plan.input, below, most) };
  }
  if (plan.kind !== "over") return plan;
  const rank = plan.functions[index - plan.input.columns.length];
  // What looks at rows behind a row would miss dropped rows.
  if (rank?.kind !== "rank" || plan.functions.some(({ kind }) => kind !== "rank")) return plan;
  const cut: Cut = { by: rank.name, offset: 0, limit: Math.max(0, most) };
  return plan.cut === null ? { ...plan, cut } : plan;
}
