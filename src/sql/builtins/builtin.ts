import type { Scalar } from "../ast.js";
import { type Signature, signatures } from "../catalog/signature.js";

/**
 * What PostgreSQL refuses at run time: dividing by zero, a number out of range, a text that is no date. It is a fact about
 * one row, not a failure of the query. It is no `Error`, since a stack for each bad row would cost more than the row.
 */
export class RowError {
  constructor(
    /** PostgreSQL's SQLSTATE, by which programs tell errors apart. */
    readonly sqlState: string,
    readonly message: string,
  ) {}
}

/**
 * A function or an operator with its meaning: it is called with operands that are not NULL, in the form of their types
 * (`Scalar`; no exact decimals among them), and gives NULL only if its signature says so.
 */
export interface Builtin {
  /** Its name with the types of its operands, which tells it apart from all others: `left(text,int4)`. */
  readonly id: string;
  readonly signature: Signature;
  readonly run: (...operands: never[]) => Scalar;
  /** It is called with NULLs, too. */
  readonly takesNull?: boolean;
}

/** A table of them, by lines such as `repeat : text int4 -> text`. */
export function builtins(table: Readonly<Record<string, (...operands: never[]) => Scalar>>): Builtin[] {
  return Object.entries(table).flatMap(([line, run]) =>
    signatures(line).map((signature) => ({ id: idOf(signature.name, signature.operands), signature, run })),
  );
}

export function idOf(name: string, operands: readonly string[]): string {
  return `${name}(${operands.join(",")})`;
}

/** One call cannot make a text of more characters: a row that asks for more is refused. */
const TEXT_MAX = 1 << 20;

export function checkLength(length: number): void {
  if (length > TEXT_MAX)
    throw new RowError("54000", `requested length too large: a text has at most ${TEXT_MAX} characters here`);
}
