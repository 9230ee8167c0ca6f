import type { Scalar } from "../ast.js";
import { castsExplicitly, castsImplicitly } from "../catalog/casts.js";
import type { PlanExpression } from "../plan.js";
import type { Span } from "../source.js";
import { categoryOf, isPreferred, type OpenType, type SqlType, showType } from "../types.js";
import { literal } from "../values/literal.js";
import { senseless } from "./refusals.js";

/**
 * The types of expressions while they are resolved. Literals in quotes, NULL and parameters are open: they take the type that
 * their surroundings ask for, and are texts if nothing does. Where a value is converted, a cast is written into the plan.
 */
export class Typing {
  readonly #text: string;
  readonly #open = new WeakSet<PlanExpression>();
  readonly #parameters: SqlType[] = [];
  #uses = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get usesParameters(): boolean {
    return this.#uses > 0;
  }

  /** By number, from `$1` on. */
  get parameters(): readonly SqlType[] {
    return Array.from(this.#parameters, (type) => type ?? "untyped");
  }

  constant(value: Scalar, type: OpenType, span: Span): PlanExpression {
    const nullable = value === null;
    if (type !== "unknown") return { kind: "constant", value, type, nullable, span };
    return this.#opened({ kind: "constant", value, type: "text", nullable, span });
  }

  parameter(number: number, span: Span): PlanExpression {
    this.#uses++;
    const type = this.#parameters[number - 1];
    if (type !== undefined) return { kind: "parameter", number, type, nullable: true, span };
    return this.#opened({ kind: "parameter", number, type: "untyped", nullable: true, span });
  }

  #opened(expression: PlanExpression): PlanExpression {
    this.#open.add(expression);
    return expression;
  }

  typeOf(expression: PlanExpression): OpenType {
    return this.#open.has(expression) ? "unknown" : expression.type;
  }

  /** With the type that it has if nothing asks for another one. */
  settled(expression: PlanExpression): PlanExpression {
    return this.#open.has(expression) ? this.converted(expression, expression.type) : expression;
  }

  /** As a value of a type to which it may be converted. */
  converted(expression: PlanExpression, type: SqlType): PlanExpression {
    const from = this.typeOf(expression);
    if (from === type) return expression;
    const { span } = expression;
    if (from === "unknown" && expression.kind === "constant")
      return this.#literal(expression.value, type, span);
    if (from === "unknown" && expression.kind === "parameter") {
      this.#parameters[expression.number - 1] = type;
      return { ...expression, type };
    }
    if (from === "untyped" && type !== "untyped") return cast(expression, type);
    // Untyped values calculate with doubles.
    if (type === "untyped") return from === "numeric" ? cast(expression, "float8") : expression;
    return cast(expression, type);
  }

  /** What `::` and CAST do. */
  cast(expression: PlanExpression, type: SqlType, span: Span): PlanExpression {
    const from = this.typeOf(expression);
    if (from === "unknown") return { ...this.converted(expression, type), span };
    if (!castsExplicitly(from, type))
      throw senseless(
        this.#text,
        span,
        `A value of type ${showType(from)} cannot be cast to ${showType(type)}.`,
      );
    return { ...cast(expression, type), span };
  }

  /** A condition. */
  truth(expression: PlanExpression, what: string): PlanExpression {
    const from = this.typeOf(expression);
    if (from === "untyped" || from === "bool") return expression;
    if (from === "unknown") return this.converted(expression, "bool");
    throw senseless(
      this.#text,
      expression.span,
      `${what} is a condition; this is of type ${showType(from)}.`,
    );
  }

  /** Values that are alternatives, as one type: the branches of CASE, the sides of UNION, the operands of coalesce. */
  alike(expressions: readonly PlanExpression[], what: string): PlanExpression[] {
    const types = expressions.map((each) => this.typeOf(each));
    const type = this.common(types, what, expressions[0]?.span);
    return expressions.map((each) => this.converted(each, type));
  }

  /** PostgreSQL's rules for UNION, CASE and their like (its manual, section 10.5). */
  common(types: readonly OpenType[], what: string, span: Span = { start: 0, end: 0 }): SqlType {
    if (types.includes("untyped")) return "untyped";
    let chosen: OpenType = "unknown";
    for (const type of types) {
      if (type === "unknown" || type === chosen) continue;
      if (chosen === "unknown") chosen = type;
      else if (categoryOf(type) !== categoryOf(chosen))
        throw senseless(
          this.#text,
          span,
          `${what} has values of the types ${showType(chosen)} and ${showType(type)}. Cast one of them.`,
        );
      else if (!isPreferred(chosen) && castsImplicitly(chosen, type) && !castsImplicitly(type, chosen))
        chosen = type;
    }
    const stays = types.find((type) => !castsImplicitly(type, chosen));
    if (stays !== undefined)
      throw senseless(
        this.#text,
        span,
        `${what} has a value of type ${showType(stays)}. Cast it to ${showType(chosen)}.`,
      );
    return chosen === "unknown" ? "text" : chosen;
  }

  #literal(value: Scalar, type: SqlType, span: Span): PlanExpression {
    if (typeof value !== "string") return { kind: "constant", value, type, nullable: value === null, span };
    const read = literal(value, type);
    if (read !== undefined) return { kind: "constant", value: read, type, nullable: false, span };
    throw senseless(
      this.#text,
      span,
      `'${value}' is not ${FORMS[type] ?? `a value of type ${showType(type)}`}.`,
    );
  }
}

const FORMS: Readonly<Partial<Record<SqlType, string>>> = {
  date: "a date in the form 2025-12-31",
  timestamp: "a time in the form 2025-12-31 23:59:59",
  timestamptz: "a time in the form 2025-12-31 23:59:59+00",
  interval: "an interval of a fixed length, such as '90 seconds'",
};

function cast(operand: PlanExpression, type: SqlType): PlanExpression {
  const { span } = operand;
  if (operand.kind === "constant") {
    const value = constantAs(operand.value, operand.type, type);
    if (value !== undefined) return { kind: "constant", value, type, nullable: value === null, span };
  }
  // What has no type may be no value of the new one.
  const nullable = operand.nullable || operand.type === "untyped";
  return { kind: "cast", operand, type, nullable, span };
}

/** Conversions among numbers that lose nothing are carried out at once. */
function constantAs(value: Scalar, from: SqlType, to: SqlType): Scalar | undefined {
  if (value === null) return null;
  const whole = from === "int2" || from === "int4" || from === "int8";
  if (whole && to === "numeric") return String(value);
  if (whole && (to === "int8" || to === "float8")) return value;
  return from === "numeric" && to === "float8" ? Number(value) : undefined;
}
