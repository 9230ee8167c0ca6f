import type { FunctionCall } from "../ast.js";
import { userSignatures } from "../builtins/index.js";
import { FUNCTION_NAMES, signaturesOf } from "../catalog/index.js";
import type { PlanExpression } from "../plan.js";
import { applied } from "./operator.js";
import { refusal, senseless } from "./refusals.js";
import type { Typing } from "./typing.js";

/** Functions of any number of operands of one type. */
const ALTERNATIVES: ReadonlySet<string> = new Set(["coalesce", "greatest", "least"]);

/** A function of a row, with its operands converted to what it takes. */
export function typedCall(
  typing: Typing,
  text: string,
  call: FunctionCall,
  operands: readonly PlanExpression[],
  aggregates: readonly string[],
): PlanExpression {
  const { name, span } = call;
  if (call.distinct || call.star || call.filter !== null || call.order.length > 0)
    throw refusal(text, span, `${name}() is not an aggregate: it takes no DISTINCT, FILTER or ORDER BY.`);
  if (ALTERNATIVES.has(name)) {
    if (operands.length === 0) throw senseless(text, span, `${name}() takes 1 operand.`);
    const alike = typing.alike(operands, `${name}()`);
    const type = alike[0]?.type ?? "untyped";
    if (name !== "coalesce" && (type === "json" || type === "jsonb"))
      throw senseless(text, span, `${name}() needs values that have an order, which JSON has not.`);
    return {
      kind: "call",
      name,
      operands: alike,
      type,
      nullable: alike.every((each) => each.nullable),
      span,
    };
  }
  if (name === "concat") {
    const values = operands.map((each) => typing.settled(each));
    return { kind: "call", name, operands: values, type: "text", nullable: false, span };
  }
  const candidates = signaturesOf(name);
  if (candidates.length === 0 || !(FUNCTION_NAMES.includes(name) || userSignatures(name).length > 0)) {
    const known = [...aggregates, ...ALTERNATIVES, "concat", ...FUNCTION_NAMES].join(", ");
    throw refusal(text, span, `The function ${name}() is not supported; there are ${known}.`);
  }
  const arities = [...new Set(candidates.map((each) => each.operands.length))].sort();
  if (!arities.includes(operands.length))
    throw senseless(
      text,
      span,
      `${name}() takes ${arities.join(" or ")} operand${arities.at(-1) === 1 ? "" : "s"}.`,
    );
  const { operands: converted, result, nullable } = applied(typing, text, name, operands, span, candidates);
  return { kind: "call", name, operands: converted, type: result, nullable, span };
}
