import type { QuantifiedComparison, SqlOperator } from "../ast.js";
import { castsImplicitly } from "../catalog/casts.js";
import { signaturesOf } from "../catalog/index.js";
import { choose } from "../catalog/overload.js";
import type { Signature } from "../catalog/signature.js";
import type { PlanExpression } from "../plan.js";
import type { Span } from "../source.js";
import { elementOf, type OpenType, type SqlType, showType } from "../types.js";
import { senseless } from "./refusals.js";
import type { Typing } from "./typing.js";

const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);

/** An operator with its operands converted to what it takes. */
export function typedOperator(
  typing: Typing,
  text: string,
  operator: SqlOperator,
  operands: readonly PlanExpression[],
  span: Span,
): PlanExpression {
  const made = (of: readonly PlanExpression[], type: SqlType, nullable: boolean): PlanExpression => {
    return { kind: "operator", operator, operands: of, type, nullable, span };
  };
  switch (operator) {
    case "and":
    case "or":
    case "not": {
      const conditions = operands.map((each) =>
        typing.truth(each, `An operand of ${operator.toUpperCase()}`),
      );
      return made(
        conditions,
        "bool",
        conditions.some(({ nullable }) => nullable),
      );
    }
    case "is null":
    case "is not null":
      return made(
        operands.map((each) => typing.settled(each)),
        "bool",
        false,
      );
    case "is distinct from":
    case "is not distinct from":
      return made(compared(typing, text, operands, span), "bool", false);
    case "[]":
      return element(typing, text, operands, span);
    default: {
      if (COMPARISONS.has(operator)) {
        const sides = operator === "=" || operator === "<>" ? compared(typing, text, operands, span) : null;
        if (sides !== null)
          return made(
            sides,
            "bool",
            sides.some(({ nullable }) => nullable),
          );
      }
      const given = operator === "||" ? asTexts(typing, operands) : operands;
      const { operands: converted, result, nullable } = applied(typing, text, operator, given, span);
      return made(converted, result, nullable);
    }
  }
}

/** Two values as an operator compares them; arrays of one type are compared by equality. */
export function compared(
  typing: Typing,
  text: string,
  operands: readonly PlanExpression[],
  span: Span,
  operator: QuantifiedComparison = "=",
): readonly PlanExpression[] {
  const [a, b] = operands.map((each) => typing.typeOf(each));
  const isEquality = operator === "=" || operator === "<>";
  if (isEquality && a !== undefined && a === b && elementOf(a) !== null) return operands;
  return applied(typing, text, operator, operands, span).operands;
}

/** A text and something else make a text; a literal beside JSON is JSON. */
function asTexts(typing: Typing, operands: readonly PlanExpression[]): readonly PlanExpression[] {
  const types = operands.map((each) => typing.typeOf(each));
  const beside = types.includes("jsonb") ? ["text"] : ["text", "unknown"];
  if (!types.some((type) => beside.includes(type))) return operands;
  return operands.map((each) => (elementOf(each.type) === null ? asText(typing, each) : each));
}

function asText(typing: Typing, expression: PlanExpression): PlanExpression {
  return expression.type === "untyped" ? typing.settled(expression) : typing.converted(expression, "text");
}

function element(
  typing: Typing,
  text: string,
  operands: readonly PlanExpression[],
  span: Span,
): PlanExpression {
  const [array, index] = operands;
  const type = array?.type === "untyped" ? "untyped" : elementOf(array?.type ?? "text");
  if (array === undefined || index === undefined || type === null)
    throw senseless(text, span, "Only an array has elements.");
  const place = typing.converted(index, "int4");
  return { kind: "operator", operator: "[]", operands: [array, place], type, nullable: true, span };
}

interface Applied {
  readonly operands: readonly PlanExpression[];
  readonly result: SqlType;
  readonly nullable: boolean;
}

/** What an operator or a function makes of its operands, by its table. */
export function applied(
  typing: Typing,
  text: string,
  name: string,
  operands: readonly PlanExpression[],
  span: Span,
  candidates: readonly Signature[] = signaturesOf(name),
): Applied {
  const types = operands.map((each) => typing.typeOf(each));
  const nullable = operands.some((each) => each.nullable);
  if (types.includes("untyped")) {
    const fitting = candidates.filter((each) => fits(each, types));
    const [first] = fitting;
    if (first === undefined) throw mismatch(text, span, name, types);
    const same = fitting.every(({ result }) => result === first.result);
    const converted = operands.map((each) => typing.converted(typing.settled(each), "untyped"));
    return { operands: converted, result: same ? first.result : "untyped", nullable: true };
  }
  const chosen = choose(candidates, types);
  if (chosen === null) throw mismatch(text, span, name, types);
  const converted = operands.map((each, i) => typing.converted(each, chosen.operands[i] ?? each.type));
  return { operands: converted, result: chosen.result, nullable: nullable || chosen.nullable };
}

function fits({ operands }: Signature, types: readonly OpenType[]): boolean {
  return operands.length === types.length && operands.every((to, i) => castsImplicitly(types[i] ?? to, to));
}

function mismatch(text: string, span: Span, name: string, types: readonly OpenType[]) {
  const given = types.map(showType);
  const written = /^[a-z]+/.test(name) && !["negate", "like", "ilike"].includes(name);
  const shown = written
    ? `${name}(${given.join(", ")})`
    : given.length === 1
      ? `- ${given[0]}`
      : `${given[0]} ${name.toUpperCase()} ${given[1]}`;
  return senseless(text, span, `There is no ${shown}. Cast an operand to a type that fits.`);
}
