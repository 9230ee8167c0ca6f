/**
 * What PostgreSQL refuses at run time: dividing by zero, a number out of range, a text that is no date. It is a fact about
 * one row, not a failure of the query: generated code catches it, the row is left out, and the query reports it. It is no
 * `Error`, since a stack for each bad row would cost more than the row.
 */
export class RowError {
  constructor(
    /** PostgreSQL's SQLSTATE, by which programs tell errors apart. */
    readonly sqlState: string,
    readonly message: string,
  ) {}
}

export const DIVISION_BY_ZERO = new RowError("22012", "division by zero");
export const INT_RANGE = new RowError("22003", "bigint out of range: integers are exact within ±2^53");
export const INT4_RANGE = new RowError("22003", "integer out of range");
export const INT2_RANGE = new RowError("22003", "smallint out of range");
export const FLOAT_OVERFLOW = new RowError("22003", "value out of range: overflow");
export const FLOAT_UNDERFLOW = new RowError("22003", "value out of range: underflow");

export function badSyntax(type: string, text: string): RowError {
  return new RowError("22P02", `invalid input syntax for type ${type}: ${JSON.stringify(text.slice(0, 60))}`);
}
