import { numericOf, type Scaled, timestampText } from "../../columns/index.js";
import { roundFloat } from "./numbers.js";
import { badSyntax, FLOAT_OVERFLOW, INT_RANGE, RowError } from "./row-error.js";

export function floatToInt(value: number): number {
  const rounded = roundFloat(value);
  if (!Number.isSafeInteger(rounded)) throw INT_RANGE;
  return rounded + 0;
}

export function textToInt(text: string): number {
  const trimmed = text.trim();
  if (!/^[+-]?\d+$/.test(trimmed)) throw badSyntax("bigint", text);
  const value = Number(trimmed);
  if (!Number.isSafeInteger(value)) throw INT_RANGE;
  return value + 0;
}

export function textToFloat(text: string): number {
  const trimmed = text.trim();
  const word = /^[+-]?(infinity|inf)$/i.test(trimmed);
  if (word) return trimmed.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(trimmed)) return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) throw badSyntax("double precision", text);
  const value = Number(trimmed);
  if (!Number.isFinite(value))
    throw new RowError("22003", `"${trimmed.slice(0, 60)}" is out of range for type double precision`);
  return value;
}

const TRUE = /^(t|tr|tru|true|y|ye|yes|on|1)$/i;
const FALSE = /^(f|fa|fal|fals|false|n|no|of|off|0)$/i;

export function textToBool(text: string): boolean {
  const trimmed = text.trim();
  if (TRUE.test(trimmed)) return true;
  if (FALSE.test(trimmed)) return false;
  throw badSyntax("boolean", text);
}

export function textToNumeric(text: string, scale: number): Scaled {
  const value = numericOf(text.trim(), scale);
  if (value === null) throw badSyntax("numeric", text);
  return value;
}

/** The shortest text that gives the number back, in PostgreSQL's form: an exponent below 10^-4 and from 10^15 on. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 15) {
    const plain = String(value);
    return plain.includes("e")
      ? value.toFixed(Math.max(0, digits.replace(/[-.]/g, "").length - 1 - power))
      : plain;
  }
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

export function floatToNumeric(value: number, scale: number): Scaled {
  const exact = value * 10 ** Math.min(scale, 15);
  if (Number.isSafeInteger(value) && Number.isSafeInteger(exact) && scale <= 15) return exact + 0;
  if (!Number.isFinite(value)) throw FLOAT_OVERFLOW;
  // The digits of the shortest text, rounded at the scale, as PostgreSQL does it.
  const [digits = "0", exponent = "0"] = value.toExponential().split("e");
  const negative = digits.startsWith("-");
  const plain = digits.replace(/[-.]/g, "");
  const shift = Number(exponent) - (plain.length - 1) + scale;
  const whole = BigInt(plain);
  const scaled =
    shift >= 0
      ? whole * 10n ** BigInt(shift)
      : (whole + 5n * 10n ** BigInt(-shift - 1)) / 10n ** BigInt(-shift);
  const result = negative ? -scaled : scaled;
  return Number.isSafeInteger(Number(result)) ? Number(result) : result;
}

export function numericToFloat(value: Scaled, scale: number): number {
  if (typeof value === "number" && scale <= 22) return value / 10 ** scale;
  return Number(`${value}e-${scale}`);
}

export function numericToInt(value: Scaled): number {
  if (typeof value === "bigint") throw INT_RANGE;
  return value;
}

export { timestampText };
