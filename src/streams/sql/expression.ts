import type { PlanExpression } from "../../analysis/sql/plan.js";
import { pointAt } from "../../analysis/sql/source.js";
import { HeadwaterError } from "../../errors.js";
import { canCast } from "../codegen/index.js";
import { type Cell, numericOf, timestampOfText } from "../columns/index.js";
import type { Arithmetic, Comparison, Expression, FunctionName, Type } from "../plan/index.js";
import { common, isNumber, QUOTIENT_SCALE, typeNamed } from "./types.js";

type Untyped<K extends PlanExpression["kind"]> = Extract<PlanExpression, { kind: K }>;

/**
 * Gives every part of an expression its type, by the types of the columns, and puts casts where PostgreSQL would convert.
 * What has no meaning is refused with its place in the text.
 */
export class Typing {
  constructor(
    readonly text: string,
    readonly columns: readonly Type[],
  ) {}

  expression(given: PlanExpression): Expression {
    switch (given.kind) {
      case "column": {
        const type = this.columns[given.index];
        if (given.depth > 0 || type === undefined)
          return this.refuse(given, "A subquery that uses columns of the query around it is not run yet.");
        return {
          type: type.type,
          nullable: type.nullable,
          scale: type.scale,
          kind: "column",
          index: given.index,
        };
      }
      case "constant":
        return this.#constant(given);
      case "operator":
        return this.#operator(given);
      case "call":
        return this.#call(given);
      case "cast": {
        const type = typeNamed(given.type);
        if (type === null) return this.refuse(given, `There is no cast to ${given.type}.`);
        const operand = this.expression(given.operand);
        return this.#to(
          operand,
          {
            type,
            scale:
              type === "numeric" ? Math.max(operand.scale, operand.type === "int" ? 0 : QUOTIENT_SCALE) : 0,
          },
          given,
        );
      }
      case "case":
        return this.#case(given);
      case "parameter":
        return this.refuse(given, "A query that runs by itself has no parameters.");
      default:
        return this.refuse(given, "A subquery in an expression is not run yet.");
    }
  }

  /** For WHERE, HAVING, WHEN and FILTER. */
  condition(given: PlanExpression): Expression {
    const made = this.expression(given);
    if (isUntyped(made)) return { ...made, type: "bool" };
    return made.type === "bool"
      ? made
      : this.refuse(given, `A condition is true or false; this is ${made.type}.`);
  }

  refuse(given: { readonly span: PlanExpression["span"] }, what: string): never {
    throw new HeadwaterError("HW-5102", pointAt(this.text, given.span, what));
  }

  /** Values of several types as one. */
  alike(operands: readonly Expression[], given: PlanExpression): Expression[] {
    const typed = operands.filter((each) => !isUntyped(each));
    const [first] = typed;
    let type: Pick<Type, "type" | "scale"> | null = first ?? { type: "text", scale: 0 };
    for (const each of typed) type = type === null ? null : common(type, each);
    if (type === null)
      return this.refuse(
        given,
        `These are of different types: ${operands.map((each) => each.type).join(", ")}. Cast one of them.`,
      );
    const meant = type;
    return operands.map((each) => this.#to(each, meant, given));
  }

  #constant({ value, span }: Untyped<"constant">): Expression {
    const base = { kind: "constant", nullable: value === null, scale: 0 } as const;
    if (typeof value === "boolean") return { ...base, type: "bool", value };
    if (typeof value !== "number") return { ...base, type: "text", value };
    const written = this.text.slice(span.start, span.end);
    // Intervals and times were read already; their words tell them from numbers.
    if (/interval/i.test(written)) return { ...base, type: "interval", value };
    if (/timestamp|date/i.test(written)) return { ...base, type: "timestamp", value };
    const decimal = /^\s*-?\d*\.(\d*)\s*$/.exec(written);
    if (decimal !== null) {
      const scale = decimal[1]?.length ?? 0;
      return { ...base, type: "numeric", scale, value: numericOf(written.trim(), scale) };
    }
    return Number.isSafeInteger(value) ? { ...base, type: "int", value } : { ...base, type: "float", value };
  }

  /** A cast; a constant text takes the type that is wanted of it, as in PostgreSQL. */
  #to(operand: Expression, { type, scale }: Pick<Type, "type" | "scale">, given: PlanExpression): Expression {
    if (operand.type === type && operand.scale === scale) return operand;
    if (operand.kind === "constant" && operand.value === null) return { ...operand, type, scale };
    if (operand.kind === "constant" && typeof operand.value === "string" && type === "timestamp") {
      const value = timestampOfText(operand.value);
      if (Number.isNaN(value))
        return this.refuse(given, `'${operand.value}' is not a time in the form 2025-12-31 23:59:59.`);
      return { kind: "constant", type, scale, nullable: false, value };
    }
    if (!canCast(operand.type, type))
      return this.refuse(given, `There is no cast from ${operand.type} to ${type}.`);
    return { type, scale, nullable: operand.nullable, kind: "cast", operand };
  }

  #operator(given: Untyped<"operator">): Expression {
    const { operator } = given;
    if (operator === "and" || operator === "or") {
      const operands = given.operands.map((each) => this.condition(each));
      return { ...bool(operands), kind: operator, operands };
    }
    const [first, second] = given.operands;
    if (first === undefined) return this.refuse(given, "An operator has no operand.");
    if (operator === "not") {
      const operand = this.condition(first);
      return { ...bool([operand]), kind: "not", operand };
    }
    const left = this.expression(first);
    if (operator === "is null" || operator === "is not null") {
      const test: Expression = { ...bool([]), kind: "is null", operand: left };
      return operator === "is null" ? test : { ...bool([]), kind: "not", operand: test };
    }
    if (operator === "negate") {
      if (!isNumber(left.type) && left.type !== "interval")
        return this.refuse(given, `There is no negative ${left.type}.`);
      return { type: left.type, scale: left.scale, nullable: left.nullable, kind: "negate", operand: left };
    }
    if (second === undefined) return this.refuse(given, "An operator lacks an operand.");
    const right = this.expression(second);
    switch (operator) {
      case "||": {
        const operands = [left, right].map((each) => this.#to(each, { type: "text", scale: 0 }, given));
        return {
          type: "text",
          scale: 0,
          nullable: left.nullable || right.nullable,
          kind: "call",
          name: "concat",
          operands,
        };
      }
      case "like": {
        const [text, pattern] = [left, right].map((each) => this.#needs(each, "text", given));
        if (text === undefined || pattern === undefined) return this.refuse(given, "LIKE takes two texts.");
        return { ...bool([text, pattern]), kind: "like", text, pattern };
      }
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
        return this.#arithmetic(operator, left, right, given);
      default:
        return this.#compare(operator, left, right, given);
    }
  }

  #compare(operator: Comparison, left: Expression, right: Expression, given: PlanExpression): Expression {
    const [a, b] = this.#coerced(left, right, given);
    return { ...bool([a, b]), kind: "compare", operator, left: a, right: b };
  }

  /** A constant text beside something else is a constant of that type. */
  #coerced(left: Expression, right: Expression, given: PlanExpression): [Expression, Expression] {
    if (isUntyped(left) && right.type !== "text") return [this.#to(left, right, given), right];
    if (isUntyped(right) && left.type !== "text") return [left, this.#to(right, left, given)];
    const [a = left, b = right] = this.alike([left, right], given);
    return [a, b];
  }

  #arithmetic(operator: Arithmetic, one: Expression, other: Expression, given: PlanExpression): Expression {
    const [left, right] =
      isUntyped(one) || isUntyped(other) ? this.#coerced(one, other, given) : [one, other];
    const nullable = left.nullable || right.nullable;
    const made = (type: Type["type"], a: Expression, b: Expression, scale = 0): Expression => ({
      ...{ type, scale, nullable, kind: "arithmetic", operator, left: a, right: b },
    });
    if (isNumber(left.type) && isNumber(right.type)) {
      const type = common(left, right)?.type ?? "float";
      if (type !== "numeric") {
        if (type === "float" && operator === "%")
          return this.refuse(given, "There is no remainder of floats.");
        return made(
          type,
          this.#to(left, { type, scale: 0 }, given),
          this.#to(right, { type, scale: 0 }, given),
        );
      }
      const [a, b] = [left, right].map((each) => this.#to(each, { type, scale: each.scale }, given));
      if (a === undefined || b === undefined) return this.refuse(given, "An operator lacks an operand.");
      const wider = Math.max(a.scale, b.scale);
      return made(
        type,
        a,
        b,
        operator === "*" ? a.scale + b.scale : operator === "/" ? Math.max(wider, QUOTIENT_SCALE) : wider,
      );
    }
    const [x, y] = [left.type, right.type];
    if ((operator === "+" || operator === "-") && y === "interval" && (x === "timestamp" || x === "interval"))
      return made(x, left, right);
    if (operator === "+" && x === "interval" && y === "timestamp") return made(y, left, right);
    if (operator === "-" && x === "timestamp" && y === "timestamp") return made("interval", left, right);
    return this.refuse(given, `There is no ${x} ${operator} ${y}.`);
  }

  #case(given: Untyped<"case">): Expression {
    const whens = given.branches.map(({ when }) => this.condition(when));
    const results = given.branches.map(({ result }) => this.expression(result));
    const otherwise = given.otherwise === null ? [] : [this.expression(given.otherwise)];
    const alike = this.alike([...results, ...otherwise], given);
    const [first = alike[0]] = alike;
    if (first === undefined) return this.refuse(given, "CASE has no branches.");
    const branches = whens.map((when, i) => ({ when, result: alike[i] ?? first }));
    const last = given.otherwise === null ? null : (alike.at(-1) ?? null);
    return {
      type: first.type,
      scale: first.scale,
      nullable: last === null || alike.some(({ nullable }) => nullable),
      kind: "case",
      branches,
      otherwise: last,
    };
  }

  #call(given: Untyped<"call">): Expression {
    const operands = given.operands.map((each) => this.expression(each));
    if (given.name === "coalesce" || given.name === "greatest" || given.name === "least") {
      const alike = this.alike(operands, given);
      const [first = operands[0]] = alike;
      if (first === undefined) return this.refuse(given, `${given.name}() has no operands.`);
      return {
        type: first.type,
        scale: first.scale,
        nullable: alike.every(({ nullable }) => nullable),
        kind: given.name,
        operands: alike,
      };
    }
    const signature = Object.hasOwn(SIGNATURES, given.name) ? SIGNATURES[given.name] : undefined;
    if (signature === undefined) return this.refuse(given, `The function ${given.name}() is not run yet.`);
    const { name, takes, gives } = signature;
    const typed = operands.map((operand, i) => {
      const wanted = takes[Math.min(i, takes.length - 1)];
      return wanted === "number"
        ? this.#number(operand, given)
        : this.#needs(operand, wanted ?? "text", given);
    });
    const [first] = typed;
    const result =
      gives === "same"
        ? { type: first?.type ?? "float", scale: name === "abs" || name === "sign" ? (first?.scale ?? 0) : 0 }
        : { type: gives, scale: 0 };
    return {
      ...result,
      nullable: typed.some(({ nullable }) => nullable),
      kind: "call",
      name,
      operands: typed,
    };
  }

  #number(operand: Expression, given: PlanExpression): Expression {
    if (isUntyped(operand)) return this.#to(operand, { type: "float", scale: 0 }, given);
    return isNumber(operand.type) ? operand : this.refuse(given, `This takes a number, not ${operand.type}.`);
  }

  #needs(operand: Expression, type: Type["type"], given: PlanExpression): Expression {
    if (operand.type === type) return operand;
    if (isUntyped(operand) || (isNumber(operand.type) && isNumber(type)))
      return this.#to(operand, { type, scale: 0 }, given);
    return this.refuse(given, `This takes ${type}, not ${operand.type}.`);
  }
}

function bool(operands: readonly Type[]) {
  return { type: "bool", scale: 0, nullable: operands.some(({ nullable }) => nullable) } as const;
}

/** `'5'` and NULL: what they are depends on where they stand. */
function isUntyped(expression: Expression): expression is Extract<Expression, { kind: "constant" }> {
  if (expression.kind !== "constant" || expression.type !== "text") return false;
  const value: Cell = expression.value;
  return value === null || typeof value === "string";
}

interface Signature {
  readonly name: FunctionName;
  /** The last one also stands for operands behind it. */
  readonly takes: readonly (Type["type"] | "number")[];
  readonly gives: Type["type"] | "same";
}

const one = (name: FunctionName, gives: Signature["gives"], ...takes: Signature["takes"]): Signature => ({
  name,
  takes,
  gives,
});

const SIGNATURES: Readonly<Record<string, Signature>> = {
  abs: one("abs", "same", "number"),
  ceil: one("ceil", "same", "number"),
  ceiling: one("ceil", "same", "number"),
  floor: one("floor", "same", "number"),
  round: one("round", "same", "number"),
  trunc: one("trunc", "same", "number"),
  sign: one("sign", "same", "number"),
  sqrt: one("sqrt", "float", "float"),
  power: one("power", "float", "float"),
  ln: one("ln", "float", "float"),
  exp: one("exp", "float", "float"),
  lower: one("lower", "text", "text"),
  upper: one("upper", "text", "text"),
  initcap: one("initcap", "text", "text"),
  reverse: one("reverse", "text", "text"),
  length: one("length", "int", "text"),
  strpos: one("strpos", "int", "text"),
  replace: one("replace", "text", "text"),
  btrim: one("trim", "text", "text"),
  ltrim: one("ltrim", "text", "text"),
  rtrim: one("rtrim", "text", "text"),
  starts_with: one("starts_with", "bool", "text"),
  left: one("left", "text", "text", "int"),
  right: one("right", "text", "text", "int"),
  repeat: one("repeat", "text", "text", "int"),
  substring: one("substring", "text", "text", "int"),
  substr: one("substring", "text", "text", "int"),
  split_part: one("split_part", "text", "text", "text", "int"),
  date_trunc: one("date_trunc", "timestamp", "text", "timestamp"),
  extract: one("extract", "float", "text", "timestamp"),
  date_part: one("extract", "float", "text", "timestamp"),
  to_char: one("to_char", "text", "timestamp", "text"),
};
