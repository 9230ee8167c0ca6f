import type { PlanExpression, Scalar, Span, SqlType } from "../../sql/index.js";

const BLANKS: Readonly<Partial<Record<SqlType, Scalar>>> = {
  bool: false,
  ...{ int2: 0, int4: 0, int8: 0, float8: 0, date: 0, timestamp: 0, timestamptz: 0 },
  numeric: "0",
  text: "",
};

/**
 * That values of two sides are equal, or both NULL, made of plain equalities wherever the type has a value to put in the place of NULL,
 * because rows of a join are found by equalities.
 */
export function alikeOf(
  pairs: readonly (readonly [PlanExpression, PlanExpression])[],
  span: Span,
): PlanExpression | null {
  return allOf(pairs.flatMap(([a, b]) => alike(a, b, span)));
}

export function allOf(conditions: readonly PlanExpression[]): PlanExpression | null {
  const [first] = conditions;
  if (first === undefined || conditions.length === 1) return first ?? null;
  return { ...first, kind: "operator", operator: "and", operands: conditions, type: "bool", nullable: true };
}

function alike(a: PlanExpression, b: PlanExpression, span: Span): PlanExpression[] {
  const bool = { type: "bool", span } as const;
  const equal = (one: PlanExpression, other: PlanExpression): PlanExpression => {
    const nullable = one.nullable || other.nullable;
    return { ...bool, kind: "operator", operator: "=", operands: [one, other], nullable };
  };
  if (!a.nullable && !b.nullable) return [equal(a, b)];
  const isNull = (operand: PlanExpression): PlanExpression => {
    return { ...bool, kind: "operator", operator: "is null", operands: [operand], nullable: false };
  };
  const blank = BLANKS[a.type];
  const constant = (value: Scalar, type: SqlType): PlanExpression => {
    return { kind: "constant", value, type, nullable: false, span };
  };
  const orElse = (value: PlanExpression, other: PlanExpression): PlanExpression => {
    const { type } = value;
    return { kind: "call", name: "coalesce", operands: [value, other], type, nullable: false, span };
  };
  const filled = (value: PlanExpression) => orElse(value, constant(blank ?? null, a.type));
  return [
    equal(isNull(a), isNull(b)),
    blank === undefined ? orElse(equal(a, b), constant(true, "bool")) : equal(filled(a), filled(b)),
  ];
}
