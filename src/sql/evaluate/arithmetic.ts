import type { Scalar, SqlOperator } from "../ast.js";
import type { SqlType } from "../types.js";
import { isInRange } from "../values/literal.js";
import {
  addNumeric,
  compareNumeric,
  divideNumeric,
  floorNumeric,
  multiplyNumeric,
  negateNumeric,
  remainderNumeric,
  roundNumeric,
  subtractNumeric,
  truncateNumeric,
} from "../values/numeric.js";
import { toMicros } from "../values/time.js";
import { halfToEven } from "./cast.js";
import type { Means } from "./failure.js";

/** `+ - * / %` and the sign, with operands of the types of one line of the catalog. */
export function calculate(
  means: Means,
  operator: SqlOperator,
  [a, b]: readonly Exclude<Scalar, null>[],
  type: SqlType,
): Scalar {
  if (typeof a === "string" && type === "numeric") return withNumerics(means, operator, a, String(b ?? ""));
  if (typeof a !== "number") return null;
  if (operator === "negate") return type === "untyped" ? -a : checked(means, 0 - a, type);
  if (typeof b !== "number") return null;
  return withNumbers(means, operator, a, b, type);
}

function withNumbers(means: Means, operator: SqlOperator, a: number, b: number, type: SqlType): Scalar {
  if ((operator === "/" || operator === "%") && b === 0) return means.fail("division by zero");
  switch (operator) {
    case "+":
      return checked(means, a + b, type);
    case "-":
      return checked(means, a - b, type);
    case "*":
      return checked(means, a * b, type);
    case "%":
      return (a % b) + 0;
    default: {
      const whole = isInteger(type) || (type === "untyped" && Number.isInteger(a) && Number.isInteger(b));
      return checked(means, whole ? Math.trunc(a / b) : a / b, type);
    }
  }
}

function isInteger(type: SqlType): type is "int2" | "int4" | "int8" {
  return type === "int2" || type === "int4" || type === "int8";
}

/** Within the range of the type; a negative zero is zero where there is only one. */
function checked(means: Means, value: number, type: SqlType): Scalar {
  if (isInteger(type)) return isInRange(value, type) ? value + 0 : means.fail("out of range");
  if (type === "float4" || type === "float8") {
    const made = type === "float4" ? Math.fround(value) : value;
    return Number.isFinite(made) ? made : means.fail("out of range");
  }
  return type === "untyped" ? value : toMicros(value);
}

function withNumerics(means: Means, operator: SqlOperator, a: string, b: string): Scalar {
  switch (operator) {
    case "negate":
      return negateNumeric(a);
    case "+":
      return addNumeric(a, b);
    case "-":
      return subtractNumeric(a, b);
    case "*":
      return multiplyNumeric(a, b);
    default:
      if (compareNumeric(b, "0") === 0) return means.fail("division by zero");
      return operator === "/" ? divideNumeric(a, b) : remainderNumeric(a, b);
  }
}

/** Functions of numbers; `undefined` if there is none of the name. */
export function numberFunction(
  means: Means,
  name: string,
  [a, b]: readonly Exclude<Scalar, null>[],
  type: SqlType,
): Scalar | undefined {
  if (typeof a === "string" && type === "numeric") return numericFunction(means, name, a, b);
  if (typeof a !== "number") return undefined;
  switch (name) {
    case "abs":
      return checked(means, Math.abs(a), type);
    case "mod":
      return typeof b === "number" ? withNumbers(means, "%", a, b, type) : null;
    case "floor":
      return Math.floor(a);
    case "ceil":
      return Math.ceil(a) + 0;
    case "trunc":
      return Math.trunc(a) + 0;
    case "sign":
      return Math.sign(a) + 0;
    case "round":
      return type === "untyped" ? Math.sign(a) * Math.round(Math.abs(a)) : halfToEven(a);
    case "sqrt":
      return a < 0 ? means.fail("out of range") : Math.sqrt(a);
    case "ln":
      return a <= 0 ? means.fail("out of range") : Math.log(a);
    case "exp":
      return checked(means, Math.exp(a), type);
    case "power":
      return typeof b === "number" ? power(means, a, b) : null;
    default:
      return undefined;
  }
}

function power(means: Means, a: number, b: number): Scalar {
  const value = a ** b;
  return Number.isFinite(value) ? value : means.fail("out of range");
}

function numericFunction(means: Means, name: string, a: string, b: Scalar | undefined): Scalar | undefined {
  switch (name) {
    case "abs":
      return a.startsWith("-") ? negateNumeric(a) : a;
    case "mod":
      return withNumerics(means, "%", a, String(b));
    case "floor":
      return floorNumeric(a);
    case "ceil":
      return negateNumeric(floorNumeric(negateNumeric(a)));
    case "round":
      return roundNumeric(a, typeof b === "number" ? b : 0);
    case "trunc":
      return truncateNumeric(a, typeof b === "number" ? b : 0);
    case "sign":
      return String(compareNumeric(a, "0"));
    default:
      return undefined;
  }
}
