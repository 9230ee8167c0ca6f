import type { Expression, FunctionName } from "../plan/index.js";
import { OPEN_SCALE } from "./types.js";

/** Functions that the engine has under PostgreSQL's names, or under another one. */
const NAMES: Readonly<Record<string, FunctionName>> = {
  ...same(
    "abs",
    "ceil",
    "date_trunc",
    "exp",
    "floor",
    "left",
    "length",
    "ln",
    "lower",
    "ltrim",
    "power",
    "replace",
  ),
  ...same("reverse", "right", "rtrim", "sign", "split_part", "sqrt", "starts_with", "strpos", "substring"),
  ...same("trim", "upper"),
  position: "strpos",
};

function same(...names: readonly FunctionName[]): Record<string, FunctionName> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

/** How many digits behind the point `extract` gives, by the field. */
const EXTRACTED: Readonly<Record<string, number>> = { epoch: 6, second: 6, milliseconds: 3 };

/**
 * A function of a row whose result is NULL if an operand is, over operands that were lowered; `null` if the engine does not
 * have it. `scale` is that of the result if it is a decimal.
 */
export function functionCall(
  name: string,
  operands: readonly Expression[],
  type: Expression["type"],
): Expression | null {
  const [first, second] = operands;
  const nullable = operands.some((each) => each.nullable);
  const call = (called: FunctionName, given = operands, scale = 0): Expression => ({
    type,
    scale,
    nullable,
    kind: "call",
    name: called,
    operands: given,
  });
  if (first === undefined) return null;
  switch (name) {
    case "abs":
      return call("abs", operands, first.scale);
    case "mod":
      return second === undefined
        ? null
        : {
            type,
            nullable,
            scale: Math.max(first.scale, second.scale),
            kind: "arithmetic",
            operator: "%",
            left: first,
            right: second,
          };
    case "round":
    case "trunc": {
      if (second === undefined) return call(name);
      const digits = second.kind === "constant" && typeof second.value === "number" ? second.value : null;
      if (digits === null || digits > OPEN_SCALE || digits < -OPEN_SCALE) return null;
      if (name === "round" && digits >= 0) return call("round", [first], digits);
      // The digits that stay are brought before the point, cut off there, and brought back.
      const whole: Expression = { ...call(name, [scaledBy(first, digits)]), scale: 0 };
      return scaledBy(whole, -digits);
    }
    case "extract": {
      if (second?.type !== "timestamp" || first.kind !== "constant" || typeof first.value !== "string")
        return null;
      const operand: Expression = { ...call("extract"), type: "float" };
      return {
        type: "numeric",
        scale: EXTRACTED[first.value.toLowerCase()] ?? 0,
        nullable,
        kind: "cast",
        operand,
      };
    }
    default: {
      const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
      return known === undefined ? null : call(known);
    }
  }
}

/** A decimal times a power of ten. */
function scaledBy(left: Expression, digits: number): Expression {
  const scale = Math.max(0, -digits);
  const right: Expression = {
    ...{ type: "numeric", scale, nullable: false, kind: "constant" },
    value: digits >= 0 ? 10 ** digits : 1,
  };
  return {
    ...{ type: "numeric", scale: left.scale + scale, nullable: left.nullable },
    ...{ kind: "arithmetic", operator: "*", left, right },
  };
}
