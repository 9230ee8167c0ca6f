import type { Scalar } from "../ast.js";
import { elementOf, type SqlType } from "../types.js";
import { showInterval, showTime } from "./time.js";

/** A value as PostgreSQL writes it. */
export function showValue(value: Exclude<Scalar, null>, type: SqlType): string {
  if (Array.isArray(value)) return showArray(value, elementOf(type) ?? "untyped");
  if (typeof value === "boolean") return type === "untyped" ? String(value) : value ? "true" : "false";
  if (typeof value !== "number") return String(value);
  switch (type) {
    case "date":
    case "timestamp":
    case "timestamptz":
      return showTime(value, type);
    case "interval":
      return showInterval(value);
    case "float4":
    case "float8":
      return showFloat(value, type);
    default:
      return String(value);
  }
}

function showArray(values: readonly Scalar[], element: SqlType): string {
  const show = (value: Scalar) => {
    if (value === null) return "NULL";
    const text = element === "bool" ? String(value).slice(0, 1) : showValue(value, element);
    return text === "" || /^null$/i.test(text) || /[{}",\\\s]/.test(text)
      ? `"${text.replace(/["\\]/g, "\\$&")}"`
      : text;
  };
  return `{${values.map(show).join(",")}}`;
}

/** As few digits as tell it from its neighbours, with an exponent below 10^-4 and from 10^15 (10^6) on. */
export function showFloat(value: number, type: "float4" | "float8"): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponent = "0"] = shortest(value, type).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < (type === "float8" ? 15 : 6)) return plain(mantissa, power);
  const sign = power < 0 ? "-" : "+";
  return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

function shortest(value: number, type: "float4" | "float8"): string {
  if (type === "float8") return value.toExponential();
  for (let digits = 0; digits < 9; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential();
}

function plain(mantissa: string, power: number): string {
  const negative = mantissa.startsWith("-");
  const digits = mantissa.replace(/[-.]/g, "");
  const point = power + 1;
  const text =
    point <= 0
      ? `0.${"0".repeat(-point)}${digits}`
      : digits.length <= point
        ? digits.padEnd(point, "0")
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return negative ? `-${text}` : text;
}
