import { checkLength, RowError, type Scalar, type SqlType } from "../../sql/index.js";

/** The types that functions of programs take and give, by their words in SQL, and what a program holds for each. */
const SQL = {
  bigint: "int8",
  integer: "int4",
  "double precision": "float8",
  double: "float8",
  boolean: "bool",
  text: "text",
  timestamp: "timestamp",
  jsonb: "jsonb",
} as const satisfies Record<string, SqlType>;

/** A time is a number of milliseconds since 1970 in UTC, and a JSON value is its text. */
interface Held {
  readonly bigint: number;
  readonly integer: number;
  readonly "double precision": number;
  readonly double: number;
  readonly boolean: boolean;
  readonly text: string;
  readonly timestamp: number;
  readonly jsonb: string;
}

export type OperandWord = keyof typeof SQL;
/** With a question mark, NULL is among the results. */
export type ResultWord = OperandWord | `${OperandWord}?`;

type ValueOf<W extends ResultWord> = W extends OperandWord
  ? Held[W]
  : W extends `${infer T extends OperandWord}?`
    ? Held[T] | null
    : never;

/** What a function is called with. */
export type OperandsOf<A extends readonly OperandWord[], N extends boolean> = {
  -readonly [I in keyof A]: N extends true ? Held[A[I]] | null : Held[A[I]];
};

export type ResultOf<R extends ResultWord> = ValueOf<R>;

export const OPERAND_WORDS: readonly string[] = Object.keys(SQL);

export function isOperandWord(word: string): word is OperandWord {
  return Object.hasOwn(SQL, word);
}

export function sqlTypeOf(word: OperandWord): SqlType {
  return SQL[word];
}

/** What a function gave, if it is a value of its type: else its row is left out. */
export function checked(name: string, word: OperandWord, nullable: boolean, given: unknown): Scalar {
  if (given === null && nullable) return null;
  if (isOf(word, given)) {
    if (typeof given === "string") checkLength(given.length);
    return given as Scalar;
  }
  throw new RowError("39004", `${name}() gave ${shown(given)}, which is no ${word}`);
}

function isOf(word: OperandWord, given: unknown): boolean {
  switch (word) {
    case "bigint":
      return Number.isSafeInteger(given);
    case "integer":
      return Number.isInteger(given) && Math.abs(given as number) < 2 ** 31;
    case "double":
    case "double precision":
      return typeof given === "number";
    case "timestamp":
      return Number.isFinite(given);
    case "boolean":
      return typeof given === "boolean";
    case "text":
      return typeof given === "string";
    case "jsonb":
      return typeof given === "string" && isJson(given);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function shown(given: unknown): string {
  return typeof given === "string" ? JSON.stringify(given.slice(0, 40)) : String(given);
}
