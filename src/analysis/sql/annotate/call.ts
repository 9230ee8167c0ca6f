import type { PlanExpression } from "../../../sql/index.js";
import type { AttributeType } from "../../graph.js";
import { commonType } from "../column-types.js";
import { both } from "../sign.js";
import { blurred, type ColumnFacts, type Nulls, nullsOf, PLAIN } from "../value.js";
import { opaque } from "./opaque.js";

/** Functions that never turn two values around. */
const ORDERED_FUNCTIONS = new Set(["floor", "ceil", "round", "trunc"]);

/** Functions that give the first, the largest or the smallest of their operands. */
const ALTERNATIVES = new Set(["coalesce", "greatest", "least"]);

type CallExpression = Extract<PlanExpression, { kind: "call" }>;

/** How the result of a function moves. */
export function calledValue(call: CallExpression, values: readonly ColumnFacts[]): ColumnFacts {
  return { ...applied(call, values), type: typeOf(call.name, values) };
}

/** Where the plan does not know it. */
function typeOf(name: string, values: readonly ColumnFacts[]): AttributeType | null {
  if (["lower", "upper"].includes(name)) return "text";
  if (ALTERNATIVES.has(name)) return commonType(values);
  return name === "date_trunc" ? (values[1]?.type ?? null) : "number";
}

function applied({ name, operands }: CallExpression, values: readonly ColumnFacts[]): ColumnFacts {
  const [a = PLAIN, b = PLAIN] = values;
  // NULL is only left of alternatives if nothing else is.
  const lacks = ALTERNATIVES.has(name)
    ? values.every((each) => each.lacks)
    : values.some((each) => each.lacks);
  const least = { ...opaque(values), lacks };
  if (ORDERED_FUNCTIONS.has(name) && values.length === 1) return { ...a, origins: blurred(a, true) };
  if (name === "date_trunc" && a.constant) return { ...b, origins: blurred(b, true) };
  const field = operands[0]?.kind === "constant" ? operands[0].value : null;
  if (name === "extract" && field === "epoch") return { ...b, nonNegative: false, origins: blurred(b, true) };
  if (name === "abs")
    return a.nonNegative ? { ...a, origins: blurred(a, false) } : { ...least, nonNegative: true };
  if (name === "length") return { ...least, nonNegative: true };
  // NULLs are passed over, so NULL may only stand where it would never be chosen.
  const place: Nulls | null = name === "greatest" ? "low" : name === "least" ? "high" : null;
  if (place !== null && values.every(({ nulls }) => nulls === "never" || nulls === place))
    return {
      ...least,
      moves: both(...values.map(({ moves }) => moves)),
      nulls: nullsOf(...values.map(({ nulls }) => nulls)),
    };
  return least;
}
