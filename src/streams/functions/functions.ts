import { HeadwaterError } from "../../errors.js";
import {
  aggregateSignatures,
  declareAggregate,
  declareFunction,
  idOf,
  isDeclared,
  RowError,
  type Scalar,
  signaturesOf,
} from "../../sql/index.js";
import {
  checked,
  isOperandWord,
  OPERAND_WORDS,
  type OperandsOf,
  type OperandWord,
  type ResultOf,
  type ResultWord,
  sqlTypeOf,
} from "./words.js";

export interface FunctionTypes<
  A extends readonly OperandWord[],
  R extends ResultWord,
  N extends boolean = false,
> {
  /** The types of its operands, as SQL calls them. */
  readonly args: A;
  /** The type of what it gives; with a question mark, it may give `null`. */
  readonly returns: R;
  /** It is called with `null`, too. Else its result is NULL if an operand is. */
  readonly takesNull?: N;
}

/**
 * Declares a function of a row, for all queries of this process. It is deterministic: the same operands give the same result, in every
 * process and at every time, because results are computed again when a query goes on from its journal. What it throws leaves its row
 * out, as every error of a row does.
 */
export function fn<const A extends readonly OperandWord[], R extends ResultWord, N extends boolean = false>(
  name: string,
  types: FunctionTypes<A, R, N>,
  run: (...operands: OperandsOf<A, N>) => ResultOf<R>,
): void {
  const { signature, word } = signatureOf(name, types);
  const call = run as (...operands: readonly unknown[]) => unknown;
  declareFunction({
    id: idOf(name, signature.operands),
    signature,
    run: (...operands: readonly Scalar[]) =>
      guarded(name, () => checked(name, word, signature.nullable, call(...operands))),
    ...(types.takesNull === true ? { takesNull: true } : {}),
  });
}

export interface AggregateParts<S, A extends readonly OperandWord[], R extends ResultWord> {
  /** The state of a group without rows: plain data, which JSON can write. */
  readonly init: () => S;
  /** The state with one row more. The order of rows must make no difference. */
  readonly add: (state: S, ...operands: OperandsOf<A, false>) => S;
  /** The state with one row less; without it, the aggregate is for rows that are never taken back. */
  readonly retract?: (state: S, ...operands: OperandsOf<A, false>) => S;
  readonly result: (state: S) => ResultOf<R>;
}

/** Declares an aggregate, for all queries of this process. Rows with a NULL among the operands do not count. */
export function aggregate<S, const A extends readonly OperandWord[], R extends ResultWord>(
  name: string,
  types: Omit<FunctionTypes<A, R>, "takesNull">,
  { init, add, retract, result }: AggregateParts<S, A, R>,
): void {
  const { signature, word } = signatureOf(name, types);
  if (signature.operands.length === 0) throw misdeclared(name, "an aggregate has at least one operand.");
  type Change = (state: unknown, ...operands: readonly Scalar[]) => unknown;
  declareAggregate({
    id: idOf(name, signature.operands),
    signature,
    init,
    add: add as unknown as Change,
    retract: (retract as unknown as Change | undefined) ?? null,
    result: (state) => checked(name, word, signature.nullable, result(state as S)),
  });
}

function signatureOf(
  name: string,
  { args, returns }: FunctionTypes<readonly OperandWord[], ResultWord, boolean>,
) {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw misdeclared(name, "its name has lower-case letters, digits and _, at most 63.");
  const bare = returns.replace(/\?$/, "");
  const unknown = [...args, bare].find((word) => !isOperandWord(word));
  if (unknown !== undefined || !isOperandWord(bare))
    throw misdeclared(
      name,
      `${JSON.stringify(unknown)} is no type of it; there are ${OPERAND_WORDS.join(", ")}.`,
    );
  const operands = args.map(sqlTypeOf);
  const isTaken =
    isDeclared(name, operands) ||
    aggregateSignatures(name).length > 0 ||
    ["count", "array_agg", "coalesce", "greatest", "least", "concat"].includes(name) ||
    signaturesOf(name).some((each) => !isDeclared(name, each.operands));
  if (isTaken) throw misdeclared(name, "there is a function of this name already. Choose another one.");
  return {
    signature: { name, operands, result: sqlTypeOf(bare), nullable: returns.endsWith("?") },
    word: bare,
  };
}

function misdeclared(name: string, why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-5463",
    `the function ${JSON.stringify(String(name).slice(0, 80))} cannot be declared: ${why}`,
  );
}

function guarded<T>(name: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof RowError) throw error;
    throw new RowError("39000", `${name}(): ${error instanceof Error ? error.message : String(error)}`);
  }
}
