import type { SqlOperator } from "../../../sql/index.js";
import type { AttributeType } from "../../graph.js";
import { both, turned } from "../sign.js";
import { blurred, type ColumnFacts, nullsOf, PLAIN, turnedNulls } from "../value.js";
import { opaque } from "./opaque.js";

/** How the result of an operator that is no condition moves. */
export function calculatedValue(operator: SqlOperator, values: readonly ColumnFacts[]): ColumnFacts {
  return { ...calculated(operator, values), type: typeOf(operator, values) };
}

const CONDITIONS: ReadonlySet<SqlOperator> = new Set([
  "like",
  "ilike",
  "@>",
  "<@",
  "?",
  "~",
  "~*",
  "!~",
  "!~*",
]);

/** There is no arithmetic with texts. With times there is: an interval counts as a number here, and leaves a time a time. */
function typeOf(operator: SqlOperator, values: readonly ColumnFacts[]): AttributeType | null {
  if (operator === "||" || operator === "->>" || operator === "#>>") return "text";
  if (CONDITIONS.has(operator)) return "boolean";
  if (operator === "->" || operator === "#>" || operator === "[]") return null;
  const time = values.find(({ type }) => type === "time" || type === "instant");
  return time?.type ?? "number";
}

function calculated(operator: SqlOperator, values: readonly ColumnFacts[]): ColumnFacts {
  const [a = PLAIN, b = PLAIN] = values;
  const least = opaque(values);
  const shift = b.constant ? blurred(a, true) : a.constant ? blurred(b, true) : least.origins;
  switch (operator) {
    case "+":
      return {
        ...least,
        moves: both(a.moves, b.moves),
        nulls: nullsOf(a.nulls, b.nulls),
        nonNegative: a.nonNegative && b.nonNegative,
        origins: shift,
      };
    case "-":
      return {
        ...least,
        moves: both(a.moves, turned(b.moves)),
        nulls: nullsOf(a.nulls, turnedNulls(b.nulls)),
        origins: b.constant ? shift : least.origins,
      };
    case "*":
      return product(a, b, least, shift);
    case "/": {
      if (!b.constant || !b.nonNegative) return least;
      const { moves, nulls, nonNegative } = a;
      return { ...least, moves, nulls, nonNegative, origins: blurred(a, true) };
    }
    case "negate":
      return {
        ...least,
        moves: turned(a.moves),
        nulls: turnedNulls(a.nulls),
        origins: a.origins.map((origin) => ({ ...origin, orderPreserving: false })),
      };
    case "->":
    case "->>":
    case "#>":
    case "#>>":
    case "[]":
      return { ...least, lacks: true };
    default:
      return least;
  }
}

function product(
  a: ColumnFacts,
  b: ColumnFacts,
  least: ColumnFacts,
  shift: ColumnFacts["origins"],
): ColumnFacts {
  const bothNonNegative = a.nonNegative && b.nonNegative;
  if (!bothNonNegative) return least;
  const scaled = a.constant || b.constant ? { origins: shift } : {};
  return {
    ...least,
    moves: both(a.moves, b.moves),
    nulls: nullsOf(a.nulls, b.nulls),
    nonNegative: true,
    ...scaled,
  };
}
