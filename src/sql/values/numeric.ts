/**
 * PostgreSQL's numeric, by the book: exact decimals as texts, each with as many digits after the point as its making left.
 * Sums have the digits of the longer operand, products those of both, quotients at least sixteen significant ones.
 */

interface Decimal {
  readonly digits: bigint;
  /** How many of the digits stand after the point. */
  readonly scale: number;
}

function decimalOf(text: string): Decimal {
  const point = text.indexOf(".");
  if (point < 0) return { digits: BigInt(text), scale: 0 };
  return { digits: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
}

function textOf({ digits, scale }: Decimal): string {
  const negative = digits < 0n;
  const all = String(negative ? -digits : digits).padStart(scale + 1, "0");
  const at = all.length - scale;
  const text = scale === 0 ? all : `${all.slice(0, at)}.${all.slice(at)}`;
  return negative && digits !== 0n ? `-${text}` : text;
}

/** More digits only; fewer would lose some. */
function digitsAt({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}

function together(a: string, b: string): { a: bigint; b: bigint; scale: number } {
  const [x, y] = [decimalOf(a), decimalOf(b)];
  const scale = Math.max(x.scale, y.scale);
  return { a: digitsAt(x, scale), b: digitsAt(y, scale), scale };
}

export function addNumeric(x: string, y: string): string {
  const { a, b, scale } = together(x, y);
  return textOf({ digits: a + b, scale });
}

export function subtractNumeric(x: string, y: string): string {
  const { a, b, scale } = together(x, y);
  return textOf({ digits: a - b, scale });
}

export function multiplyNumeric(x: string, y: string): string {
  const [a, b] = [decimalOf(x), decimalOf(y)];
  return textOf({ digits: a.digits * b.digits, scale: a.scale + b.scale });
}

export function remainderNumeric(x: string, y: string): string {
  const { a, b, scale } = together(x, y);
  return textOf({ digits: a % b, scale });
}

/** Significant digits that a quotient has at least, and digits in a group of PostgreSQL's own storage. */
const SIGNIFICANT_MIN = 16;
const GROUP = 4;
const SCALE_MAX = 1000;

export function divideNumeric(x: string, y: string): string {
  const scale = quotientScale(x, y);
  const [a, b] = [decimalOf(x), decimalOf(y)];
  // One digit more than is kept, to round half away from zero.
  const shift = scale + 1 + b.scale - a.scale;
  const dividend = shift >= 0 ? a.digits * 10n ** BigInt(shift) : a.digits / 10n ** BigInt(-shift);
  return textOf(rounded({ digits: dividend / b.digits, scale: scale + 1 }, scale));
}

/** PostgreSQL estimates the size of a quotient from the first group of four digits of each operand. */
function quotientScale(x: string, y: string): number {
  const [a, b] = [leadingGroup(x), leadingGroup(y)];
  const weight = a.weight - b.weight - (a.group <= b.group ? 1 : 0);
  const scale = Math.max(SIGNIFICANT_MIN - weight * GROUP, decimalOf(x).scale, decimalOf(y).scale, 0);
  return Math.min(scale, SCALE_MAX);
}

/** The first group that is not zero, and how many groups stand between it and the point. */
function leadingGroup(text: string): { weight: number; group: number } {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const before = whole.padStart(Math.ceil(whole.length / GROUP) * GROUP, "0");
  const after = fraction.padEnd(Math.ceil(fraction.length / GROUP) * GROUP, "0");
  const groups = (before + after).match(/.{4}/g) ?? [];
  const first = groups.findIndex((each) => each !== "0000");
  if (first < 0) return { weight: 0, group: 0 };
  return { weight: before.length / GROUP - 1 - first, group: Number(groups[first]) };
}

/** Half away from zero. */
function rounded({ digits, scale }: Decimal, to: number): Decimal {
  if (to >= scale) return { digits: digits * 10n ** BigInt(to - scale), scale: to };
  const unit = 10n ** BigInt(scale - to);
  const half = unit / 2n;
  return { digits: (digits + (digits < 0n ? -half : half)) / unit, scale: to };
}

/** To some digits after the point, or, if negative, to tens, hundreds and so on. */
export function roundNumeric(text: string, to: number): string {
  const value = rounded(decimalOf(text), to);
  return textOf(to >= 0 ? value : { digits: value.digits * 10n ** BigInt(-to), scale: 0 });
}

export function truncateNumeric(text: string, to: number): string {
  const { digits, scale } = decimalOf(text);
  if (to >= scale) return textOf({ digits: digits * 10n ** BigInt(to - scale), scale: to });
  const unit = 10n ** BigInt(scale - to);
  const cut = digits / unit;
  return textOf(to >= 0 ? { digits: cut, scale: to } : { digits: cut * 10n ** BigInt(-to), scale: 0 });
}

export function floorNumeric(text: string): string {
  const cut = truncateNumeric(text, 0);
  return compareNumeric(cut, text) > 0 ? subtractNumeric(cut, "1") : cut;
}

export function negateNumeric(text: string): string {
  const { digits, scale } = decimalOf(text);
  return textOf({ digits: -digits, scale });
}

export function compareNumeric(x: string, y: string): number {
  const { a, b } = together(x, y);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The same text for equal values: `1.50` and `1.5` are equal. */
export function numericKey(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "").replace(/^-0$/, "0") : text;
}
