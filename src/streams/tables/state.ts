/**
 * A piece of an operator's state that is written as a base and what changed since: each change is written once, and when the
 * changes have become larger than the base, the base is written anew.
 */
export interface OperatorState {
  readonly memoryBytes: number;
  /** A delta would not say all that changed. */
  readonly isRebased?: boolean;
  /** All of it. */
  base(): Buffer;
  /** What changed since the last base or delta, or `null` if nothing did. */
  delta(): Buffer | null;
  /** Takes a base, then its deltas in their order. Afterwards it goes on exactly as the state that wrote them. */
  load(bytes: Buffer): void;
}
