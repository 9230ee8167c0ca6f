import { narrowed, type Scaled } from "../../columns/index.js";
import {
  DIVISION_BY_ZERO,
  FLOAT_OVERFLOW,
  FLOAT_UNDERFLOW,
  INT_RANGE,
  INT2_RANGE,
  INT4_RANGE,
  RowError,
} from "./row-error.js";

/**
 * Arithmetic as PostgreSQL has it. Integers are doubles within ±2^53: a sum, difference or product that lies within is exact,
 * and one that is not exact lies beyond, so checking the result is enough.
 */
const INT_MAX = Number.MAX_SAFE_INTEGER;

/** Products of products would otherwise grow without end. */
const NUMERIC_MAX = 10n ** 2000n;
const NUMERIC_OVERFLOW = new RowError("22003", "value overflows numeric format");

export function int(value: number): number {
  if (value > INT_MAX || value < -INT_MAX) throw INT_RANGE;
  return value + 0;
}

export function int4(value: number): number {
  if (value > 0x7fff_ffff || value < -0x8000_0000) throw INT4_RANGE;
  return value;
}

export function int2(value: number): number {
  if (value > 0x7fff || value < -0x8000) throw INT2_RANGE;
  return value;
}

/**
 * Towards zero. The quotient of two such integers is rounded by less than its distance from the next integer away from zero,
 * so it is never rounded up to that value.
 */
export function divideInt(a: number, b: number): number {
  if (b === 0) throw DIVISION_BY_ZERO;
  return Math.trunc(a / b) + 0;
}

export function modInt(a: number, b: number): number {
  if (b === 0) throw DIVISION_BY_ZERO;
  return (a % b) + 0;
}

/** The result of adding finite numbers must be finite. */
export function addFloat(a: number, b: number): number {
  const sum = a + b;
  if (!Number.isFinite(sum) && Number.isFinite(a) && Number.isFinite(b)) throw FLOAT_OVERFLOW;
  return sum;
}

export function multiplyFloat(a: number, b: number): number {
  const product = a * b;
  if (!Number.isFinite(product) && Number.isFinite(a) && Number.isFinite(b)) throw FLOAT_OVERFLOW;
  if (product === 0 && a !== 0 && b !== 0) throw FLOAT_UNDERFLOW;
  return product;
}

export function divideFloat(a: number, b: number): number {
  if (b === 0) throw DIVISION_BY_ZERO;
  const quotient = a / b;
  if (!Number.isFinite(quotient) && Number.isFinite(a) && Number.isFinite(b)) throw FLOAT_OVERFLOW;
  if (quotient === 0 && a !== 0 && Number.isFinite(b)) throw FLOAT_UNDERFLOW;
  return quotient;
}

/** Half to even, as PostgreSQL rounds doubles. */
export function roundFloat(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : down + 1;
}

export function squareRoot(value: number): number {
  if (value < 0) throw new RowError("2201F", "cannot take square root of a negative number");
  return Math.sqrt(value);
}

export function power(a: number, b: number): number {
  if (a === 0 && b < 0) throw new RowError("2201F", "zero raised to a negative power is undefined");
  if (a < 0 && Number.isFinite(b) && !Number.isInteger(b))
    throw new RowError("2201F", "a negative number raised to a non-integer power yields a complex result");
  const result = a === 1 || b === 0 ? 1 : a ** b;
  if (!Number.isFinite(result) && Number.isFinite(a) && Number.isFinite(b)) throw FLOAT_OVERFLOW;
  return result;
}

export function logarithm(value: number): number {
  if (value === 0) throw new RowError("2201E", "cannot take logarithm of zero");
  if (value < 0) throw new RowError("2201E", "cannot take logarithm of a negative number");
  return Math.log(value);
}

export function exponential(value: number): number {
  const result = Math.exp(value);
  if (result === Number.POSITIVE_INFINITY && Number.isFinite(value)) throw FLOAT_OVERFLOW;
  return result;
}

/** Exact decimals: in doubles as long as operands and result fit, and in BigInts otherwise. */
export function addNumeric(a: Scaled, b: Scaled): Scaled {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (sum <= INT_MAX && sum >= -INT_MAX) return sum;
  }
  return narrowed(BigInt(a) + BigInt(b));
}

export function subtractNumeric(a: Scaled, b: Scaled): Scaled {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (difference <= INT_MAX && difference >= -INT_MAX) return difference;
  }
  return narrowed(BigInt(a) - BigInt(b));
}

export function multiplyNumeric(a: Scaled, b: Scaled): Scaled {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (product <= INT_MAX && product >= -INT_MAX) return product + 0;
  }
  return narrowed(BigInt(a) * BigInt(b));
}

/** What a query multiplies. */
export function productNumeric(a: Scaled, b: Scaled): Scaled {
  const product = multiplyNumeric(a, b);
  if (typeof product === "bigint" && (product > NUMERIC_MAX || product < -NUMERIC_MAX))
    throw NUMERIC_OVERFLOW;
  return product;
}

/** a / b rounded half away from zero, where the operands were brought to scales that make the result's right. */
export function divideNumeric(a: Scaled, b: Scaled): Scaled {
  if (b === 0) throw DIVISION_BY_ZERO;
  const [dividend, divisor] = [BigInt(a), BigInt(b)];
  const quotient = dividend / divisor;
  const twice = 2n * absolute(dividend - quotient * divisor);
  if (twice < absolute(divisor)) return narrowed(quotient);
  return narrowed(quotient + (dividend < 0n === divisor < 0n ? 1n : -1n));
}

export function modNumeric(a: Scaled, b: Scaled): Scaled {
  if (b === 0) throw DIVISION_BY_ZERO;
  if (typeof a === "number" && typeof b === "number") return (a % b) + 0;
  return narrowed(BigInt(a) % BigInt(b));
}

/** Times 10^`by`, or rounded half away from zero if `by` is negative. */
export function rescale(value: Scaled, by: number): Scaled {
  if (by === 0) return value;
  if (by > 0) return multiplyNumeric(value, by <= 15 ? 10 ** by : 10n ** BigInt(by));
  return divideNumeric(value, by >= -15 ? 10 ** -by : 10n ** BigInt(-by));
}

export function floorNumeric(value: Scaled, scale: number): Scaled {
  const whole = truncNumeric(value, scale);
  return value < 0 && rescale(whole, scale) !== value ? subtractNumeric(whole, 1) : whole;
}

export function truncNumeric(value: Scaled, scale: number): Scaled {
  return scale === 0 ? value : narrowed(BigInt(value) / 10n ** BigInt(scale));
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
