import type { Scalar } from "../ast.js";
import { elementOf, type SqlType } from "../types.js";
import { decimalText } from "../values/decimal-text.js";
import { jsonText } from "../values/json.js";
import { isInRange, literal } from "../values/literal.js";
import { roundNumeric } from "../values/numeric.js";
import { showValue } from "../values/text.js";
import { DAY_MS } from "../values/time.js";
import type { Means } from "./failure.js";

/** A value of one type as one of another. */
export function castValue(means: Means, value: Scalar, from: SqlType, to: SqlType): Scalar {
  if (value === null || from === to || to === "untyped") return value;
  if (to === "text") return showValue(value, from);
  if (Array.isArray(value)) {
    const inner: SqlType = elementOf(from) ?? "untyped";
    const outer: SqlType = elementOf(to) ?? "untyped";
    return value.map((each) => castValue(means, each, inner, outer));
  }
  if (typeof value === "string" && (from === "text" || from === "untyped"))
    return literal(value, to) ?? means.fail("not a value of the type");
  switch (to) {
    case "int2":
    case "int4":
    case "int8":
      return toInteger(means, value, from, to);
    case "numeric":
      return toNumeric(means, value, from);
    case "float4":
    case "float8":
      return toFloat(means, value, to);
    case "bool":
      return typeof value === "boolean" ? value : value !== 0 && value !== "false";
    case "date":
      return typeof value === "number" ? Math.floor(value / DAY_MS) * DAY_MS : means.fail("not supported");
    case "json":
    case "jsonb":
      return jsonText(String(value), to) ?? means.fail("not a value of the type");
    default:
      return value;
  }
}

function toInteger(means: Means, value: Scalar, from: SqlType, to: "int2" | "int4" | "int8"): Scalar {
  const rounded =
    typeof value === "boolean"
      ? Number(value)
      : from === "numeric" && typeof value === "string"
        ? Number(roundNumeric(value, 0))
        : from === "float4" || from === "float8"
          ? halfToEven(Number(value))
          : Math.sign(Number(value)) * Math.round(Math.abs(Number(value)));
  if (Number.isNaN(rounded)) return means.fail("not a value of the type");
  return isInRange(rounded, to) ? rounded + 0 : means.fail("out of range");
}

/** A double is taken with the digits that it surely has. */
function toNumeric(means: Means, value: Scalar, from: SqlType): Scalar {
  if (typeof value === "boolean") return means.fail("not supported");
  const digits = from === "float4" ? 6 : from === "float8" ? 15 : null;
  const text =
    digits === null || typeof value !== "number" ? String(value) : String(Number(value.toPrecision(digits)));
  return decimalText(text) ?? means.fail("not a value of the type");
}

function toFloat(means: Means, value: Scalar, to: "float4" | "float8"): Scalar {
  const number = Number(value);
  if (Number.isNaN(number)) return means.fail("not a value of the type");
  const made = to === "float4" ? Math.fround(number) : number;
  return Number.isFinite(made) ? made : means.fail("out of range");
}

export function halfToEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}
