import type { PlanExpression, Scalar } from "../../../sql/index.js";
import type { AttributeType } from "../../graph.js";
import { castKeepsOrder, columnType, commonType } from "../column-types.js";
import { wavering } from "../sign.js";
import { asAttribute, columnAt, type ExpressionSite, inputsOf } from "../site.js";
import { blurred, type ColumnFacts, PLAIN, union } from "../value.js";
import { calculatedValue } from "./arithmetic.js";
import { calledValue } from "./call.js";
import { membershipTruth, scalarValue } from "./membership.js";
import { opaque } from "./opaque.js";
import { allTruths, comparisonTruth, larger, noted, OPPOSITE, smaller, type Truth } from "./truth.js";
import { isWidening } from "./widening.js";

/**
 * How the set of rows for which a condition is true moves. NOT is pushed down to the comparisons, where SQL's third truth
 * value does no harm: NOT (a > b) is a <= b, also when one is NULL.
 */
export function truthOf(site: ExpressionSite, expression: PlanExpression, negated = false): Truth {
  if (expression.kind === "operator") {
    const { operator, operands } = expression;
    if (operator === "not") return allTruths(operands.map((each) => truthOf(site, each, !negated)));
    // A condition made of conditions with AND and OR moves as they do, if they move the same way.
    if (operator === "and" || operator === "or")
      return allTruths(operands.map((each) => truthOf(site, each, negated)));
    const opposite = OPPOSITE[operator];
    if (opposite !== undefined) {
      const values = operands.map((each) => valueFor(site, each));
      return noted(site, expression, false, comparisonTruth(negated ? opposite : operator, values));
    }
  }
  if (expression.kind === "exists" || expression.kind === "in") {
    const operands = expression.kind === "in" ? expression.operands : [];
    const values = operands.map((each) => valueFor(site, each));
    return membershipTruth(site, expression, values, negated);
  }
  // A column that is true or false is compared with false (NOT: with true), of which false is the lesser.
  const value = valueFor(site, expression);
  const moves = negated ? smaller(value) : larger(value);
  return noted(site, expression, negated, { moves, minds: value.minds });
}

/** What is known of the value of an expression. */
export function valueFor(site: ExpressionSite, expression: PlanExpression): ColumnFacts {
  const value = untypedValue(site, expression);
  return { ...value, type: columnType(expression.type) ?? value.type };
}

function untypedValue(site: ExpressionSite, expression: PlanExpression): ColumnFacts {
  const again = (each: PlanExpression) => valueFor(site, each);
  switch (expression.kind) {
    case "column":
      return columnAt(site, expression);
    case "constant":
      return constantValue(expression.value);
    case "parameter":
      return { ...PLAIN, constant: true };
    case "scalar":
      return scalarValue(site, expression.plan);
    case "exists":
    case "in":
      return conditionValue(site, expression);
    case "operator":
      return asAttribute(site, expression, operatorValue(site, expression));
    case "call":
      return asAttribute(site, expression, calledValue(expression, expression.operands.map(again)));
    case "cast": {
      const value = again(expression.operand);
      if (isWidening(expression.operand.type, expression.type)) return value;
      const kept = castKeepsOrder(value.type, expression.type);
      return asAttribute(
        site,
        expression,
        kept ? { ...value, origins: blurred(value, true) } : opaque([value]),
      );
    }
    case "case":
      return asAttribute(site, expression, caseValue(site, expression));
  }
}

function constantValue(value: Scalar): ColumnFacts {
  const number = typeof value === "number" || (typeof value === "string" && /^\d/.test(value));
  const nonNegative = number && Number(value) >= 0;
  return { ...PLAIN, constant: true, nonNegative, lacks: value === null, type: typeOfConstant(value) };
}

function typeOfConstant(value: Scalar): AttributeType | null {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return typeof value === "string" ? "text" : null;
}

/** A condition where a value is expected: that it can move is all that is kept of how it does. */
function conditionValue(site: ExpressionSite, expression: PlanExpression): ColumnFacts {
  const { moves, minds } = truthOf(site, expression);
  const inputs = inputsOf(expression).filter(({ kind }) => kind === "column");
  const base = opaque(inputs.map((each) => valueFor(site, each)));
  return { ...base, moves: wavering(base.moves, moves), minds: union(base.minds, minds), constant: false };
}

function operatorValue(
  site: ExpressionSite,
  expression: Extract<PlanExpression, { kind: "operator" }>,
): ColumnFacts {
  const { operator, operands } = expression;
  if (operator in OPPOSITE || operator === "and" || operator === "or" || operator === "not")
    return { ...conditionValue(site, expression), type: "boolean" };
  return calculatedValue(
    operator,
    operands.map((each) => valueFor(site, each)),
  );
}

function caseValue(
  site: ExpressionSite,
  { branches, otherwise }: Extract<PlanExpression, { kind: "case" }>,
): ColumnFacts {
  const truths = branches.map(({ when }) => conditionValue(site, when));
  const results = [...branches.map(({ result }) => result), ...(otherwise === null ? [] : [otherwise])].map(
    (each) => valueFor(site, each),
  );
  const lacks = otherwise === null || results.some((each) => each.lacks);
  return { ...opaque([...truths, ...results]), lacks, type: commonType(results) };
}
