import type { PlanExpression, LogicalPlan as SqlPlan } from "../../sql/index.js";
import { looksOut } from "./outer-columns.js";

type Column = Extract<PlanExpression, { kind: "column" }>;
export type Subquery = Extract<PlanExpression, { kind: "exists" | "in" | "scalar" }>;

/** A subquery without columns from outside, and what its rows and those of the query around it must meet. */
export interface Decorrelated {
  readonly plan: SqlPlan;
  /** Over the columns of the plan (depth 0) and of the query around it (depth 1). */
  readonly conditions: readonly PlanExpression[];
}

/**
 * Takes the conditions that use columns of the query around a subquery out of its WHERE, up to its result, where they become
 * conditions of a join. Columns that they look at become columns of the result, behind its own. `null` if columns from outside
 * are used elsewhere.
 */
export function decorrelated(plan: SqlPlan, isExists: boolean): Decorrelated | null {
  if (!looksOut(plan)) return { plan, conditions: [] };
  if (plan.kind === "filter") {
    const input = decorrelated(plan.input, false);
    const all = conjunctsOf(plan.predicate);
    const outer = all.filter((each) => looksOut(each));
    if (input === null || outer.some((each) => reaches(each))) return null;
    const own = all.filter((each) => !outer.includes(each));
    const filtered = own.reduce<SqlPlan>(
      (made, predicate) => ({ ...plan, input: made, predicate, columns: made.columns }),
      input.plan,
    );
    return { plan: filtered, conditions: [...input.conditions, ...outer] };
  }
  if (plan.kind !== "project") return null;
  const input = decorrelated(plan.input, false);
  const outputs = isExists ? [] : [...plan.outputs];
  if (input === null || outputs.some(({ expression }) => looksOut(expression))) return null;
  const conditions = input.conditions.map((condition) =>
    mapColumns(condition, (column) => {
      if (column.depth > 0) return column;
      const name = input.plan.columns[column.index]?.name ?? "";
      return { ...column, index: outputs.push({ name, expression: column }) - 1 };
    }),
  );
  const columns = outputs.map(({ name, expression: { type, nullable } }) => ({ name, type, nullable }));
  return { plan: { ...plan, input: input.plan, outputs, columns }, conditions };
}

/** Whether a condition has a subquery of its own, or reaches further out than the next query. */
function reaches(condition: PlanExpression): boolean {
  return subqueriesIn(condition).length > 0 || looksOut(condition, 1);
}

export function isSubquery(expression: PlanExpression): expression is Subquery & PlanExpression {
  return expression.kind === "exists" || expression.kind === "in" || expression.kind === "scalar";
}

function operandsOf(expression: PlanExpression): readonly PlanExpression[] {
  switch (expression.kind) {
    case "operator":
    case "call":
      return expression.operands;
    case "cast":
      return [expression.operand];
    case "case": {
      const parts = expression.branches.flatMap(({ when, result }) => [when, result]);
      return expression.otherwise === null ? parts : [...parts, expression.otherwise];
    }
    default:
      return [];
  }
}

export function subqueriesIn(expression: PlanExpression): readonly PlanExpression[] {
  return isSubquery(expression) ? [expression] : operandsOf(expression).flatMap(subqueriesIn);
}

export function conjunctsOf(condition: PlanExpression): readonly PlanExpression[] {
  return condition.kind === "operator" && condition.operator === "and"
    ? condition.operands.flatMap(conjunctsOf)
    : [condition];
}

/** The same expression with other parts in the place of some. */
export function replaced(
  expression: PlanExpression,
  replace: (part: PlanExpression) => PlanExpression | null,
): PlanExpression {
  const made = replace(expression);
  if (made !== null) return made;
  const again = (each: PlanExpression) => replaced(each, replace);
  switch (expression.kind) {
    case "operator":
    case "call":
      return { ...expression, operands: expression.operands.map(again) };
    case "cast":
      return { ...expression, operand: again(expression.operand) };
    case "case":
      return {
        ...expression,
        branches: expression.branches.map(({ when, result }) => ({
          when: again(when),
          result: again(result),
        })),
        otherwise: expression.otherwise === null ? null : again(expression.otherwise),
      };
    default:
      return expression;
  }
}

export function mapColumns(
  expression: PlanExpression,
  place: (column: Column & PlanExpression) => PlanExpression,
): PlanExpression {
  return replaced(expression, (part) => (part.kind === "column" ? place(part) : null));
}
