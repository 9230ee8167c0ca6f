import { HeadwaterError } from "../../errors.js";

/** What SQL calls the types of columns, and what columns hold. */
const HELD = {
  bigint: "int",
  int8: "int",
  integer: "int",
  int: "int",
  int4: "int",
  smallint: "int",
  int2: "int",
  "double precision": "float",
  float8: "float",
  float: "float",
  boolean: "bool",
  bool: "bool",
  text: "text",
  uuid: "text",
  timestamp: "timestamp",
  timestamptz: "timestamp",
  date: "timestamp",
  numeric: "numeric",
  decimal: "numeric",
  json: "json",
  jsonb: "json",
} as const;

type TypeWord = keyof typeof HELD;
export type Held<W extends TypeWord = TypeWord> = (typeof HELD)[W];

/** A type as SQL calls it; with a question mark, the column can be NULL. */
export type ColumnWord = TypeWord | `${TypeWord}?`;

/** The columns of a stream, in order: `{ auction: "bigint", price: "numeric?", at: "timestamp" }`. */
export type StreamColumns = Readonly<Record<string, ColumnWord>>;

/** The type that a word names. */
export type HeldBy<W extends ColumnWord> = W extends `${infer T extends TypeWord}?`
  ? Held<T>
  : W extends TypeWord
    ? Held<W>
    : never;

export interface DeclaredColumn {
  readonly name: string;
  readonly type: Held;
  readonly nullable: boolean;
}

/** Reads columns that may come from outside: a request or a program without types. */
export function columnsOf(columns: unknown): readonly DeclaredColumn[] {
  if (typeof columns !== "object" || columns === null || Array.isArray(columns))
    throw new HeadwaterError(
      "HW-5403",
      'the columns are an object of names and types: { "who": "text", "n": "bigint?" }.',
    );
  return Object.entries(columns).map(([name, word]) => {
    const [, bare = "", mark] = /^([a-z0-9 ]+)(\?)?$/.exec(String(word).toLowerCase()) ?? [];
    if (!Object.hasOwn(HELD, bare))
      throw new HeadwaterError(
        "HW-5403",
        `the column ${JSON.stringify(name.slice(0, 80))} has the type ${JSON.stringify(String(word).slice(0, 80))}. ` +
          `Types are ${Object.keys(HELD).join(", ")}; "?" behind one allows NULL.`,
      );
    return { name, type: HELD[bare as TypeWord], nullable: mark !== undefined };
  });
}
