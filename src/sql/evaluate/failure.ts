/**
 * Why an expression has no value. PostgreSQL ends the whole query then; here the value is NULL, and the caller is told.
 */
export type EvaluationFailure =
  | "division by zero"
  | "out of range"
  | "not a value of the type"
  | "more than one row"
  | "not supported";

/** What a family of operators or functions is given besides its operands. */
export interface Means {
  /** NULL, after the failure was told. */
  readonly fail: (failure: EvaluationFailure) => null;
}
