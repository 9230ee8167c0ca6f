import type { SqlType } from "../types.js";

/** One way to use an operator or a function: what its operands are, and what comes out. */
export interface Signature {
  readonly name: string;
  readonly operands: readonly SqlType[];
  readonly result: SqlType;
  /** It can be NULL although none of its operands is. */
  readonly nullable: boolean;
}

/**
 * A table of them, written as PostgreSQL's documentation writes them: `+ - : int4 int4 -> int4`. A `?` behind the result says
 * that it can be NULL although no operand is.
 */
export function signatures(table: string): Signature[] {
  const lines = table.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line) => {
    const [names = "", rest = ""] = line.split(" : ");
    const [operands = "", result = ""] = rest.split("->").map((each) => each.trim());
    const shared = {
      operands: operands.split(" ").filter((each) => each !== "") as SqlType[],
      result: result.replace("?", "") as SqlType,
      nullable: result.endsWith("?"),
    };
    return names
      .trim()
      .split(" ")
      .map((name) => ({ name, ...shared }));
  });
}
