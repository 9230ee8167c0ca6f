/** What can be wrong with a run. While a failure is made smaller, it stays of its kind. */
export type FailureKind = "act" | "event" | "invariant" | "model" | "network" | "key" | "rest";

/** What was found in a run. */
export interface RunFailure {
  readonly kind: FailureKind;
  readonly error: Error;
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
