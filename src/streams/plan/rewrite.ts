import type { Expression } from "./expression.js";

/** The parts of an expression, one level down. */
function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "column":
    case "constant":
      return [];
    case "not":
    case "is null":
    case "negate":
    case "cast":
      return [expression.operand];
    case "compare":
    case "arithmetic":
      return [expression.left, expression.right];
    case "like":
      return [expression.text, expression.pattern];
    case "case": {
      const { branches, otherwise } = expression;
      const parts = branches.flatMap(({ when, result }) => [when, result]);
      return otherwise === null ? parts : [...parts, otherwise];
    }
    default:
      return expression.operands;
  }
}

/** The columns that an expression looks at. */
export function columnsIn(expression: Expression): readonly number[] {
  return expression.kind === "column" ? [expression.index] : operandsOf(expression).flatMap(columnsIn);
}

/** The same expression over columns that stand elsewhere. */
export function moved(expression: Expression, place: (index: number) => number): Expression {
  const again = (each: Expression) => moved(each, place);
  switch (expression.kind) {
    case "column":
      return { ...expression, index: place(expression.index) };
    case "constant":
      return expression;
    case "not":
    case "is null":
    case "negate":
    case "cast":
      return { ...expression, operand: again(expression.operand) };
    case "compare":
    case "arithmetic":
      return { ...expression, left: again(expression.left), right: again(expression.right) };
    case "like":
      return { ...expression, text: again(expression.text), pattern: again(expression.pattern) };
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
      return { ...expression, operands: expression.operands.map(again) };
  }
}

/** What AND holds together, one by one. */
export function conjuncts(condition: Expression | null): readonly Expression[] {
  if (condition === null) return [];
  return condition.kind === "and" ? condition.operands.flatMap(conjuncts) : [condition];
}

/** All of some conditions as one; `null` if there is none. */
export function conjunction(conditions: readonly Expression[]): Expression | null {
  const [only] = conditions;
  if (conditions.length < 2) return only ?? null;
  const nullable = conditions.some((each) => each.nullable);
  return { kind: "and", operands: conditions, type: "bool", scale: 0, nullable };
}
