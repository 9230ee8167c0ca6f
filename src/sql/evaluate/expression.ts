import type { QuantifiedComparison, Scalar, SqlOperator } from "../ast.js";
import { type Builtin, builtinOf, RowError } from "../builtins/index.js";
import type { LogicalPlan, PlanExpression } from "../plan.js";
import type { SqlType } from "../types.js";
import { compareValues } from "../values/compare.js";
import { outputValue } from "../values/text.js";
import { calculate, numberFunction } from "./arithmetic.js";
import { castValue } from "./cast.js";
import type { EvaluationFailure, Means } from "./failure.js";
import { matchesLike, textFunction } from "./text.js";
import { timeFunction } from "./time.js";

export type Row = readonly Scalar[];

/** What an expression can see: its own row first, then those of the queries around it. */
export interface Sight extends Means {
  readonly rows: readonly Row[];
  readonly parameters: readonly Scalar[];
  readonly query: (plan: LogicalPlan, outer: readonly Row[]) => readonly Row[];
}

/** SQL with its three truth values: NULL is "not known". */
export function evaluateExpression(sight: Sight, expression: PlanExpression): Scalar {
  const again = (each: PlanExpression) => evaluateExpression(sight, each);
  switch (expression.kind) {
    case "column":
      return sight.rows[expression.depth]?.[expression.index] ?? null;
    case "constant":
      return expression.value;
    case "parameter":
      return sight.parameters[expression.number - 1] ?? null;
    case "operator":
      return operate(sight, expression, expression.operands.map(again));
    case "call":
      return apply(sight, expression, expression.operands.map(again));
    case "cast":
      return castValue(sight, again(expression.operand), expression.operand.type, expression.type);
    case "case": {
      const branch = expression.branches.find(({ when }) => again(when) === true);
      if (branch !== undefined) return again(branch.result);
      return expression.otherwise === null ? null : again(expression.otherwise);
    }
    case "exists":
      return sight.query(expression.plan, sight.rows).length > 0;
    case "in": {
      const values = expression.operands.map(again);
      const types = expression.operands.map(({ type }) => type);
      const rows = sight.query(expression.plan, sight.rows);
      return anyOf(
        rows.map((row) =>
          allOf(values.map((value, i) => meets(expression.comparison, value, row[i] ?? null, types[i]))),
        ),
      );
    }
    case "scalar":
      return sight.query(expression.plan, sight.rows)[0]?.[0] ?? null;
  }
}

type Truth = boolean | null;

function allOf(truths: readonly Scalar[]): Truth {
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
}

function anyOf(truths: readonly Scalar[]): Truth {
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}

function meets(comparison: QuantifiedComparison, a: Scalar, b: Scalar, type: SqlType = "untyped"): Truth {
  if (a === null || b === null) return null;
  const order = compareValues(a, b, type);
  switch (comparison) {
    case "=":
      return order === 0;
    case "<>":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

function isSame(a: Scalar, b: Scalar, type: SqlType): boolean {
  return a === null || b === null ? a === b : compareValues(a, b, type) === 0;
}

function operate(
  sight: Sight,
  { operator, operands, type }: Extract<PlanExpression, { kind: "operator" }>,
  values: readonly Scalar[],
): Scalar {
  const [a = null, b = null] = values;
  const types = operands.map((each) => each.type);
  switch (operator) {
    case "and":
      return allOf(values);
    case "or":
      return anyOf(values);
    case "is null":
      return a === null;
    case "is not null":
      return a !== null;
    case "is distinct from":
      return !isSame(a, b, types[0] ?? "untyped");
    case "is not distinct from":
      return isSame(a, b, types[0] ?? "untyped");
    default: {
      const known = values.filter((each) => each !== null);
      return known.length < values.length ? null : operateKnown(sight, operator, known, types, type);
    }
  }
}

function operateKnown(
  sight: Sight,
  operator: SqlOperator,
  values: readonly Exclude<Scalar, null>[],
  types: readonly SqlType[],
  type: SqlType,
): Scalar {
  const builtin = builtinOf(operator, types, values);
  if (builtin !== undefined) return runBuiltin(sight, builtin, values);
  const [a = "", b = ""] = values;
  switch (operator) {
    case "not":
      return typeof a === "boolean" ? !a : null;
    case "=":
    case "<>":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return meets(operator, a, b, types[0]);
    case "||":
      return `${a}${b}`;
    case "like":
    case "ilike":
      return matchesLike(String(a), String(b), operator === "ilike");
    case "[]":
      return Array.isArray(a) && typeof b === "number" ? (a[b - 1] ?? null) : null;
    default:
      return calculate(sight, operator, values, type);
  }
}

function apply(
  sight: Sight,
  { name, operands, type }: Extract<PlanExpression, { kind: "call" }>,
  values: readonly Scalar[],
): Scalar {
  const known = values.filter((each) => each !== null);
  switch (name) {
    case "array":
      return values;
    case "coalesce":
      return known[0] ?? null;
    case "greatest":
      return known.toSorted((a, b) => compareValues(b, a, type))[0] ?? null;
    case "least":
      return known.toSorted((a, b) => compareValues(a, b, type))[0] ?? null;
    case "concat":
      return values
        .map((each, i) => (each === null ? "" : outputValue(each, operands[i]?.type ?? "untyped")))
        .join("");
  }
  const types = operands.map((each) => each.type);
  const builtin = builtinOf(name, types, known);
  if (builtin?.takesNull === true) return runBuiltin(sight, builtin, values);
  if (known.length < values.length) return null;
  if (builtin !== undefined) return runBuiltin(sight, builtin, known);
  const found =
    timeFunction(sight, name, known, types) ??
    numberFunction(sight, name, known, type) ??
    textFunction(sight, name, known);
  return found ?? null;
}

const FAILURES: Readonly<Record<string, EvaluationFailure>> = {
  "22012": "division by zero",
  "22P02": "not a value of the type",
  "21000": "more than one row",
};

function runBuiltin(means: Means, { run }: Builtin, values: readonly Scalar[]): Scalar {
  try {
    return (run as (...operands: readonly Scalar[]) => Scalar)(...values);
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    return means.fail(FAILURES[error.sqlState] ?? "out of range");
  }
}
