import type { Arithmetic, Comparison, Type, ValueType } from "../plan/index.js";
import type { CodeBuilder } from "./code.js";
import type { LibraryName } from "./lib/index.js";

/** Operators on values that are not NULL. Both sides of a comparison have one type. */

const JS: Readonly<Record<Comparison, string>> = {
  "=": "===",
  "<>": "!==",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};

export function compared(
  code: CodeBuilder,
  operator: Comparison,
  type: ValueType,
  a: string,
  b: string,
): string {
  if (type === "text" || type === "json") {
    if (operator === "=" || operator === "<>") return `${a} ${JS[operator]} ${b}`;
    return `${code.call("compareText", [a, b])} ${JS[operator]} 0`;
  }
  if (type === "float") return comparedFloats(operator, a, b);
  return `${a} ${JS[operator]} ${b}`;
}

/** PostgreSQL's order of doubles is total: NaN equals itself and lies behind all others. */
function comparedFloats(operator: Comparison, a: string, b: string): string {
  switch (operator) {
    case "=":
      return `(${a} === ${b} || (${a} !== ${a} && ${b} !== ${b}))`;
    case "<>":
      return `!${comparedFloats("=", a, b)}`;
    case "<":
      return `(${a} < ${b} || (${b} !== ${b} && ${a} === ${a}))`;
    case ">":
      return comparedFloats("<", b, a);
    case "<=":
      return `(${a} <= ${b} || ${b} !== ${b})`;
    case ">=":
      return comparedFloats("<=", b, a);
  }
}

const NUMERIC: Readonly<Record<Arithmetic, LibraryName>> = {
  "+": "addNumeric",
  "-": "subtractNumeric",
  "*": "productNumeric",
  "/": "divideNumeric",
  "%": "modNumeric",
};

export function arithmetic(
  code: CodeBuilder,
  operator: Arithmetic,
  left: Type,
  right: Type,
  result: Type,
  a: string,
  b: string,
): string {
  switch (result.type) {
    case "int":
      if (operator === "/") return code.call("divideInt", [a, b], true);
      if (operator === "%") return code.call("modInt", [a, b], true);
      return code.call("int", [`${a} ${operator} ${b}`], true);
    case "float":
      if (operator === "/") return code.call("divideFloat", [a, b], true);
      if (operator === "*") return code.call("multiplyFloat", [a, b], true);
      return code.call("addFloat", [a, operator === "-" ? `-${b}` : b], true);
    case "numeric":
      return numericArithmetic(code, operator, left.scale, right.scale, result.scale, a, b);
    case "timestamp":
      return code.call("timestamp", [`${a} ${operator} ${b}`], true);
    default:
      return code.call("wholeMicros", [`${a} ${operator} ${b}`]); // a length of time
  }
}

/** The scale of a result is the plan's; operands are brought to the scales that give it. */
function numericArithmetic(
  code: CodeBuilder,
  operator: Arithmetic,
  left: number,
  right: number,
  scale: number,
  a: string,
  b: string,
): string {
  const at = (value: string, by: number) => (by === 0 ? value : code.call("rescale", [value, String(by)]));
  if (operator === "*") return at(code.call(NUMERIC["*"], [a, b], true), scale - left - right);
  if (operator === "/") return code.call(NUMERIC["/"], [at(a, scale + right - left), b], true);
  const both = Math.max(left, right);
  const result = code.call(NUMERIC[operator], [at(a, both - left), at(b, both - right)], operator === "%");
  return at(result, scale - both);
}

export function negated(code: CodeBuilder, type: ValueType, a: string): string {
  if (type === "numeric") return code.call("subtractNumeric", ["0", a]);
  return type === "float" ? `-${a}` : `0 - ${a}`;
}
