/**
 * Exact decimals: a `numeric` column with the scale s holds the integer v·10^s for the value v. Within ±2^53 the integer is a
 * double; beyond, a BigInt. A result that fits into a double is always one, so equal values are equal.
 */
export type Scaled = number | bigint;

/** More digits than anybody needs, and few enough that one text cannot keep the machine busy. */
const DIGITS_MAX = 1000;

export function narrowed(value: bigint): Scaled {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}

/** `-12.50` at a scale; `null` if it is no decimal, or has more digits after the point than the scale keeps. */
export function numericOf(text: string, scale: number): Scaled | null {
  const parts = /^([+-]?)(\d+)(?:\.(\d*))?$|^([+-]?)\.(\d+)$/.exec(text);
  if (parts === null || text.length > DIGITS_MAX) return null;
  const sign = parts[1] ?? parts[4] ?? "";
  const whole = parts[2] ?? "0";
  const fraction = (parts[3] ?? parts[5] ?? "").replace(/0+$/, "");
  if (fraction.length > scale) return null;
  const digits = `${whole}${fraction.padEnd(scale, "0")}`;
  const value = digits.length <= 15 ? Number(digits) : narrowed(BigInt(digits));
  return sign === "-" ? negated(value) : value;
}

export function numericText(value: Scaled, scale: number): string {
  const negative = value < 0;
  const digits = String(negative ? negated(value) : value).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return negative ? `-${text}` : text;
}

function negated(value: Scaled): Scaled {
  return typeof value === "bigint" ? -value : 0 - value;
}
