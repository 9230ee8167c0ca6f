import type { FunctionName, Type } from "../plan/index.js";
import type { CodeBuilder } from "./code.js";

/** A call of a function whose operands are not NULL. */
export function called(
  code: CodeBuilder,
  name: FunctionName,
  types: readonly Type[],
  result: Type,
  operands: readonly string[],
): string {
  return FUNCTIONS[name](code, operands, types[0] ?? result, result);
}

type Write = (code: CodeBuilder, operands: readonly string[], first: Type, result: Type) => string;

const FUNCTIONS: Readonly<Record<FunctionName, Write>> = {
  abs: (code, [a = ""], { type }) =>
    type === "numeric" ? `(${a} < 0 ? ${code.call("subtractNumeric", ["0", a])} : ${a})` : `Math.abs(${a})`,
  ceil: (code, [a = ""], { type, scale }) =>
    type !== "numeric"
      ? `Math.ceil(${a}) + 0`
      : code.call("subtractNumeric", [
          "0",
          code.call("floorNumeric", [code.call("subtractNumeric", ["0", a]), String(scale)]),
        ]),
  concat: (code, operands) => code.call("shortEnough", [operands.join(" + ")], true),
  date_trunc: (code, operands) => code.call("dateTrunc", operands, true),
  exp: (code, operands) => code.call("exponential", operands, true),
  extract: (code, operands) => code.call("extract", operands, true),
  floor: (code, [a = ""], { type, scale }) =>
    type === "numeric" ? code.call("floorNumeric", [a, String(scale)]) : `Math.floor(${a})`,
  int2: (code, operands) => code.call("int2", operands, true),
  int4: (code, operands) => code.call("int4", operands, true),
  left: (code, operands) => code.call("left", operands),
  length: (code, operands) => code.call("length", operands),
  ln: (code, operands) => code.call("logarithm", operands, true),
  lower: (code, operands) => code.call("lower", operands),
  ltrim: (code, operands) => code.call("trimStart", operands),
  power: (code, operands) => code.call("power", operands, true),
  replace: (code, operands) => code.call("replace", operands, true),
  reverse: (code, operands) => code.call("reverse", operands),
  right: (code, operands) => code.call("right", operands),
  round: (code, [a = ""], first, result) =>
    first.type === "numeric"
      ? code.call("rescale", [a, String(result.scale - first.scale)])
      : first.type === "int"
        ? a
        : code.call("roundFloat", [a]),
  rtrim: (code, operands) => code.call("trimEnd", operands),
  sign: (_, [a = ""], { type }) =>
    type === "numeric" ? `(${a} > 0 ? 1 : ${a} < 0 ? -1 : 0)` : `Math.sign(${a})`,
  split_part: (code, operands) => code.call("splitPart", operands, true),
  sqrt: (code, operands) => code.call("squareRoot", operands, true),
  starts_with: (code, operands) => code.call("startsWith", operands),
  strpos: (code, operands) => code.call("position", operands),
  substring: (code, operands) => code.call("substring", operands, true),
  trim: (code, operands) => code.call("trim", operands),
  trunc: (code, [a = ""], { type, scale }) =>
    type === "numeric" ? code.call("truncNumeric", [a, String(scale)]) : `Math.trunc(${a}) + 0`,
  upper: (code, operands) => code.call("upper", operands),
};
