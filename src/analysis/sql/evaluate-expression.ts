import type { Operator, Scalar } from "./ast.js";
import type { Plan, PlanExpression } from "./plan.js";

export type Row = readonly Scalar[];

/** What an expression can see: its own row first, then those of the queries around it. */
export interface Sight {
  readonly rows: readonly Row[];
  readonly parameters: readonly Scalar[];
  readonly query: (plan: Plan, outer: readonly Row[]) => readonly Row[];
}

/** SQL with its three truth values: NULL is "not known". Nothing throws: what PostgreSQL refuses at run time is NULL. */
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
      return operate(expression.operator, expression.operands.map(again));
    case "call":
      return apply(expression.name, expression.operands.map(again));
    case "cast":
      return cast(again(expression.operand), expression.type);
    case "case": {
      const branch = expression.branches.find(({ when }) => again(when) === true);
      if (branch !== undefined) return again(branch.result);
      return expression.otherwise === null ? null : again(expression.otherwise);
    }
    case "exists":
      return sight.query(expression.plan, sight.rows).length > 0;
    case "in": {
      const value = again(expression.operand);
      const found = sight
        .query(expression.plan, sight.rows)
        .map(([each = null]) => operate("=", [value, each]));
      return operate("or", [false, ...found]);
    }
    case "scalar":
      return sight.query(expression.plan, sight.rows)[0]?.[0] ?? null;
  }
}

/** Numbers before texts before truth values, so that any two values can be compared. */
export function compare(a: Scalar, b: Scalar): number {
  const rank = (value: Scalar) => ["number", "string", "boolean"].indexOf(typeof value);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return a === b ? 0 : (a ?? 0) < (b ?? 0) ? -1 : 1;
}

function operate(operator: Operator, operands: readonly Scalar[]): Scalar {
  const [a = null, b = null] = operands;
  switch (operator) {
    case "and":
      return operands.includes(false) ? false : operands.includes(null) ? null : true;
    case "or":
      return operands.includes(true) ? true : operands.includes(null) ? null : false;
    case "is null":
      return a === null;
    case "is not null":
      return a !== null;
    default:
      return operands.includes(null) ? null : known(operator, a, b);
  }
}

function known(operator: Operator, a: Scalar, b: Scalar): Scalar {
  switch (operator) {
    case "not":
      return typeof a === "boolean" ? !a : null;
    case "=":
      return compare(a, b) === 0;
    case "<>":
      return compare(a, b) !== 0;
    case "<":
      return compare(a, b) < 0;
    case "<=":
      return compare(a, b) <= 0;
    case ">":
      return compare(a, b) > 0;
    case ">=":
      return compare(a, b) >= 0;
    case "||":
      return `${a}${b}`;
    case "like":
      return like(String(a), String(b));
    default:
      return typeof a === "number" ? calculate(operator, a, b) : null;
  }
}

function calculate(operator: Operator, a: number, b: Scalar): Scalar {
  if (operator === "negate") return -a;
  if (typeof b !== "number") return null;
  if (operator === "+") return a + b;
  if (operator === "-") return a - b;
  if (operator === "*") return a * b;
  if (b === 0) return null;
  if (operator === "%") return a % b;
  return Number.isInteger(a) && Number.isInteger(b) ? Math.trunc(a / b) : a / b;
}

function like(text: string, pattern: string): boolean {
  const parts = pattern
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("%", ".*")
    .replaceAll("_", ".");
  return new RegExp(`^${parts}$`, "s").test(text);
}

const UNITS_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

function apply(name: string, operands: readonly Scalar[]): Scalar {
  const [a = null, b = null] = operands;
  const values = operands.filter((each) => each !== null).sort(compare);
  if (name === "coalesce") return operands.find((each) => each !== null) ?? null;
  if (name === "greatest") return values.at(-1) ?? null;
  if (name === "least") return values[0] ?? null;
  if (operands.includes(null)) return null;
  if (name === "lower") return String(a).toLowerCase();
  if (name === "upper") return String(a).toUpperCase();
  if (name === "length") return [...String(a)].length;
  if (name === "date_trunc") {
    const unit = UNITS_MS[String(a)];
    return unit === undefined || typeof b !== "number" ? null : Math.floor(b / unit) * unit;
  }
  if (name === "extract") return a === "epoch" && typeof b === "number" ? b / 1000 : null;
  if (typeof a !== "number") return null;
  if (name === "abs") return Math.abs(a);
  if (name === "floor") return Math.floor(a);
  if (name === "ceil" || name === "ceiling") return Math.ceil(a);
  if (name === "round") return Math.sign(a) * Math.round(Math.abs(a));
  return Math.trunc(a);
}

function cast(value: Scalar, type: string): Scalar {
  if (value === null) return null;
  if (/^(text|varchar|bpchar)$/.test(type)) return String(value);
  if (/^(int[248])$/.test(type)) return numeric(value, Math.round);
  if (/^(float[48]|numeric)$/.test(type)) return numeric(value, (each) => each);
  if (type === "date" && typeof value === "number") return apply("date_trunc", ["day", value]);
  if (type === "bool") return typeof value === "boolean" ? value : value !== 0;
  return value;
}

function numeric(value: Scalar, round: (value: number) => number): Scalar {
  const number = Number(value);
  return Number.isNaN(number) ? null : round(number);
}
