import type { PlanExpression, SqlType } from "../../../sql/index.js";

/** Conversions that tell all values apart and keep their order. */
const WIDER: Readonly<Partial<Record<SqlType, readonly SqlType[]>>> = {
  int2: ["int4", "int8", "numeric", "float8"],
  int4: ["int8", "numeric", "float8"],
  int8: ["numeric", "float8"],
  date: ["timestamp"],
};

export function isWidening(from: SqlType, to: SqlType): boolean {
  return WIDER[from]?.includes(to) === true;
}

/** What is compared, without the conversion that only makes the types of both sides the same. */
export function withoutWidening(expression: PlanExpression): PlanExpression {
  return expression.kind === "cast" && isWidening(expression.operand.type, expression.type)
    ? withoutWidening(expression.operand)
    : expression;
}
