import type { Scalar } from "../ast.js";
import type { Signature } from "../catalog/signature.js";
import { type Builtin, idOf } from "./builtin.js";

/** An aggregate of a program: its state is plain data, and a function of the rows, not of their order. */
export interface UserAggregate {
  readonly id: string;
  readonly signature: Signature;
  readonly init: () => unknown;
  readonly add: (state: unknown, ...operands: readonly Scalar[]) => unknown;
  /** Without it, no row of a group may be taken back. */
  readonly retract: ((state: unknown, ...operands: readonly Scalar[]) => unknown) | null;
  readonly result: (state: unknown) => Scalar;
}

/** What programs have declared, for all queries of this process. */
const FUNCTIONS = new Map<string, Builtin>();
const AGGREGATES = new Map<string, UserAggregate>();

export function declareFunction(made: Builtin): void {
  FUNCTIONS.set(made.id, made);
}

export function declareAggregate(made: UserAggregate): void {
  AGGREGATES.set(made.signature.name, made);
}

export function userFunction(id: string): Builtin | undefined {
  return FUNCTIONS.get(id);
}

export function userAggregate(name: string): UserAggregate | undefined {
  return AGGREGATES.get(name);
}

export function userSignatures(name: string): readonly Signature[] {
  return [...FUNCTIONS.values()].map(({ signature }) => signature).filter((each) => each.name === name);
}

/** Whether a program has declared a function or an aggregate of this name and, of functions, these operands. */
export function isDeclared(name: string, operands: readonly string[]): boolean {
  return AGGREGATES.has(name) || FUNCTIONS.has(idOf(name, operands));
}
