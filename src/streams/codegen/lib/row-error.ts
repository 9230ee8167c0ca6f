import { RowError } from "../../../sql/index.js";

export { RowError };

export const DIVISION_BY_ZERO = new RowError("22012", "division by zero");
export const INT_RANGE = new RowError("22003", "bigint out of range: integers are exact within ±2^53");
export const INT4_RANGE = new RowError("22003", "integer out of range");
export const INT2_RANGE = new RowError("22003", "smallint out of range");
export const FLOAT_OVERFLOW = new RowError("22003", "value out of range: overflow");
export const FLOAT_UNDERFLOW = new RowError("22003", "value out of range: underflow");

export function badSyntax(type: string, text: string): RowError {
  return new RowError("22P02", `invalid input syntax for type ${type}: ${JSON.stringify(text.slice(0, 60))}`);
}
