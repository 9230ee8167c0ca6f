import { builtins, RowError } from "./builtin.js";

/** Functions of doubles. */
export const NUMBER_BUILTINS = builtins({
  "pi : -> float8": () => Math.PI,
  "sin : float8 -> float8": (value: number) => finite(Math.sin(value)),
  "cos : float8 -> float8": (value: number) => finite(Math.cos(value)),
  "tan : float8 -> float8": (value: number) => finite(Math.tan(value)),
  "asin : float8 -> float8": (value: number) => finite(Math.asin(value)),
  "acos : float8 -> float8": (value: number) => finite(Math.acos(value)),
  "atan : float8 -> float8": (value: number) => Math.atan(value),
  "atan2 : float8 float8 -> float8": (y: number, x: number) => Math.atan2(y, x),
  "cbrt : float8 -> float8": (value: number) => Math.cbrt(value),
  "degrees : float8 -> float8": (value: number) => finite(value * (180 / Math.PI)),
  "radians : float8 -> float8": (value: number) => value * (Math.PI / 180),
  "log log10 : float8 -> float8": (value: number) => {
    if (value === 0) throw new RowError("2201E", "cannot take logarithm of zero");
    if (value < 0) throw new RowError("2201E", "cannot take logarithm of a negative number");
    return Math.log10(value);
  },
  /** Whether a subquery in the place of a value may have so many rows; its name has a colon, so that no query can call it. */
  ":single : int8 -> bool": (rows: number) => {
    if (rows > 1)
      throw new RowError("21000", "more than one row returned by a subquery used as an expression");
    return true;
  },
  "div : int8 int8 -> int8": (a: number, b: number) => {
    if (b === 0) throw new RowError("22012", "division by zero");
    return Math.trunc(a / b) + 0;
  },
  "gcd : int8 int8 -> int8": (a: number, b: number) => {
    let [x, y] = [Math.abs(a), Math.abs(b)];
    while (y !== 0) [x, y] = [y, x % y];
    return x;
  },
});

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RowError("22003", "value out of range: overflow");
  return value;
}
