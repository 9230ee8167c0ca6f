import { HeadwaterError } from "../../errors.js";
import {
  builtinOf,
  type PlanExpression,
  pointAt,
  type Span,
  type SqlType,
  showType,
} from "../../sql/index.js";
import { canCast } from "../codegen/index.js";
import { type Cell, numericOf } from "../columns/index.js";
import type { Expression, Type } from "../plan/index.js";
import { castBetween } from "./casts.js";
import { functionCall } from "./functions.js";
import { OPEN_SCALE, valueType, widestScale } from "./types.js";

type Given<K extends PlanExpression["kind"]> = Extract<PlanExpression, { kind: K }>;

/**
 * From expressions of a resolved query, whose types PostgreSQL's rules decided, to those of the engine. What is added is the
 * scale of decimals: in PostgreSQL each value has its own, here each expression has one. What does not run yet is refused
 * with its place in the text.
 */
export class Expressions {
  constructor(
    readonly text: string,
    readonly columns: readonly Type[],
  ) {}

  lower(given: PlanExpression): Expression {
    const made = this.#lowered(given);
    // Small integers have limits of their own; the engine's are those of doubles.
    const isSmall = given.type === "int4" || given.type === "int2";
    const canLeave = made.kind === "arithmetic" || made.kind === "negate" || made.kind === "cast";
    if (!isSmall || !canLeave) return made;
    const name = given.type === "int4" ? "int4" : "int2";
    return { type: "int", scale: 0, nullable: made.nullable, kind: "call", name, operands: [made] };
  }

  refuse({ span }: { readonly span: Span }, what: string): never {
    throw new HeadwaterError("HW-5102", pointAt(this.text, span, what));
  }

  typeOf(given: PlanExpression): Pick<Type, "type" | "nullable"> {
    const type = valueType(given.type);
    if (type === null)
      return this.refuse(given, `Values of the type ${showType(given.type)} are not run yet.`);
    return { type, nullable: given.nullable };
  }

  #lowered(given: PlanExpression): Expression {
    switch (given.kind) {
      case "column": {
        const column = this.columns[given.index];
        if (given.depth > 0 || column === undefined)
          return this.refuse(given, "A subquery that uses columns of the query around it is not run yet.");
        return {
          type: column.type,
          nullable: column.nullable,
          scale: column.scale,
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
      case "cast":
        return this.#cast(this.lower(given.operand), given, given.operand.type);
      case "case": {
        const results = this.#alike([
          ...given.branches.map(({ result }) => result),
          ...(given.otherwise === null ? [] : [given.otherwise]),
        ]);
        const scale = widestScale(results);
        const branches = given.branches.map(({ when, result }, i) => ({
          when: this.lower(when),
          result: results[i] ?? this.lower(result),
        }));
        return {
          ...this.typeOf(given),
          scale,
          kind: "case",
          branches,
          otherwise: given.otherwise === null ? null : (results.at(-1) ?? null),
        };
      }
      case "parameter":
        return this.refuse(given, "A query that runs by itself has no parameters.");
      default:
        return this.refuse(given, "A subquery in an expression is not run yet.");
    }
  }

  #constant(given: Given<"constant">): Expression {
    const { value } = given;
    if (Array.isArray(value)) return { type: "text", nullable: false, scale: 0, kind: "constant", value };
    const type = this.typeOf(given);
    if (type.type === "numeric" && typeof value === "string") {
      const scale = /\.(\d*)$/.exec(value)?.[1]?.length ?? 0;
      return { ...type, scale, kind: "constant", value: numericOf(value, scale) };
    }
    return { ...type, scale: 0, kind: "constant", value: value as Cell | readonly Cell[] };
  }

  /** Operands of one type at one scale. */
  #alike(operands: readonly PlanExpression[]): Expression[] {
    const lowered = operands.map((each) => this.lower(each));
    const scale = widestScale(lowered);
    return lowered.map((each) =>
      each.scale === scale || each.type !== "numeric"
        ? each
        : { type: each.type, scale, nullable: each.nullable, kind: "cast", operand: each },
    );
  }

  #cast(operand: Expression, given: PlanExpression, from: SqlType): Expression {
    const { type, nullable } = this.typeOf(given);
    if (operand.kind === "constant" && operand.value === null) {
      const scale = type === "numeric" ? operand.scale : 0;
      return { ...operand, type, scale };
    }
    const made = castBetween(operand, from, given.type);
    if (made !== null) return made.type === type ? made : this.#cast(made, given, "text");
    const isOpen = operand.type === "float" || operand.type === "text";
    const scale = type !== "numeric" ? 0 : isOpen ? OPEN_SCALE : operand.scale;
    if (operand.type === type && operand.scale === scale && type !== "int") return operand;
    if (!canCast(operand.type, type))
      return this.refuse(given, `The cast to ${showType(given.type)} is not run yet.`);
    return { type, scale, nullable, kind: "cast", operand };
  }

  #operator(given: Given<"operator">): Expression {
    const { operator } = given;
    const nullable = given.nullable;
    const bool = { type: "bool", scale: 0, nullable } as const;
    if (operator === "and" || operator === "or")
      return { ...bool, kind: operator, operands: given.operands.map((each) => this.lower(each)) };
    const builtin = this.#builtin(operator, given);
    if (builtin !== null) return builtin;
    const operands =
      operator === "/" || operator === "*"
        ? given.operands.map((each) => this.lower(each))
        : this.#alike(given.operands);
    const [left, right] = operands;
    if (left === undefined) return this.refuse(given, "An operator has no operand.");
    switch (operator) {
      case "not":
        return { ...bool, kind: "not", operand: left };
      case "is null":
        return { ...bool, kind: "is null", operand: left };
      case "is not null":
        return { ...bool, kind: "not", operand: { ...bool, kind: "is null", operand: left } };
      case "negate":
        return { ...this.typeOf(given), scale: left.scale, kind: "negate", operand: left };
    }
    if (right === undefined) return this.refuse(given, "An operator lacks an operand.");
    switch (operator) {
      case "||":
        return { type: "text", scale: 0, nullable, kind: "call", name: "concat", operands };
      case "like":
        return { ...bool, kind: "like", text: left, pattern: right };
      case "ilike":
        return { ...bool, kind: "like", text: lowerCase(left), pattern: lowerCase(right) };
      case "=":
      case "<>":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return { ...bool, kind: "compare", operator, left, right };
      case "is distinct from":
        return { ...bool, kind: "not", operand: notDistinct(left, right) };
      case "is not distinct from":
        return notDistinct(left, right);
      case "+":
      case "-":
      case "*":
      case "/":
      case "%": {
        const type = this.typeOf(given);
        const wider = widestScale(operands);
        const scale =
          type.type !== "numeric"
            ? 0
            : operator === "*"
              ? left.scale + right.scale
              : operator === "/"
                ? Math.max(wider, OPEN_SCALE)
                : wider;
        if (scale > SCALE_MAX)
          return this.refuse(
            given,
            `This ${operator} has ${scale} digits behind the point, and at most ${SCALE_MAX} are kept. Round an operand: round(x, 16).`,
          );
        return { ...type, scale, kind: "arithmetic", operator, left, right };
      }
      default:
        return this.refuse(given, `The operator ${operator} is not run yet.`);
    }
  }

  #call(given: Given<"call">): Expression {
    const { name } = given;
    if (name === "coalesce" || name === "greatest" || name === "least") {
      const operands = this.#alike(given.operands);
      return { ...this.typeOf(given), scale: widestScale(operands), kind: name, operands };
    }
    if (name === "concat") return this.#concat(given);
    const builtin = this.#builtin(name, given);
    if (builtin !== null) return builtin;
    const operands = given.operands.map((each) => this.lower(each));
    const length = given.operands.find(({ type }) => type === "interval");
    if (length !== undefined && name === "extract") return this.#epoch(given, operands);
    if (length !== undefined) return this.refuse(given, `${name}() of a length of time is not run yet.`);
    return (
      functionCall(name, operands, this.typeOf(given).type) ??
      this.refuse(given, `The function ${name}() is not run yet.`)
    );
  }

  #builtin(name: string, given: Given<"call" | "operator">): Expression | null {
    const found = builtinOf(
      name,
      given.operands.map(({ type }) => type),
    );
    if (found === undefined) return null;
    const operands = given.operands.map((each) => this.lower(each));
    return { ...this.typeOf(given), scale: 0, kind: "builtin", id: found.id, operands };
  }

  /** NULL is nothing, and truth values are one letter. */
  #concat(given: Given<"call">): Expression {
    const texts = given.operands.map((each): Expression => {
      const value = this.lower(each);
      const text =
        value.type === "bool" ? letterOf(value) : this.#cast(value, { ...each, type: "text" }, each.type);
      return text.nullable
        ? { ...EMPTY, kind: "coalesce", operands: [text, { ...EMPTY, kind: "constant", value: "" }] }
        : text;
    });
    return { ...EMPTY, kind: "call", name: "concat", operands: texts };
  }

  /** A length of time has one field that does not depend on how it is written. */
  #epoch(given: Given<"call">, [field, length]: readonly Expression[]): Expression {
    if (field?.kind !== "constant" || field.value !== "epoch" || length === undefined)
      return this.refuse(
        given,
        "Of a length of time, extract(epoch from …) is run; divide it by 60 or 3600.",
      );
    const { nullable } = given;
    const operand: Expression = {
      ...{ type: "float", scale: 0, nullable, kind: "builtin", id: ":epoch(interval)" },
      operands: [length],
    };
    return { type: "numeric", scale: 6, nullable, kind: "cast", operand };
  }
}

/** Each multiplication adds the digits of both operands. */
const SCALE_MAX = 400;

const EMPTY = { type: "text", scale: 0, nullable: false } as const;

function letterOf(operand: Expression): Expression {
  const { nullable } = operand;
  const letter = (value: string): Expression => ({ ...EMPTY, kind: "constant", value });
  const isNot: Expression = { type: "bool", scale: 0, nullable, kind: "not", operand };
  const branches = [
    { when: operand, result: letter("t") },
    { when: isNot, result: letter("f") },
  ];
  return nullable
    ? { ...EMPTY, nullable, kind: "case", branches, otherwise: null }
    : { ...EMPTY, kind: "case", branches: branches.slice(0, 1), otherwise: letter("f") };
}

function lowerCase(operand: Expression): Expression {
  return {
    type: "text",
    scale: 0,
    nullable: operand.nullable,
    kind: "call",
    name: "lower",
    operands: [operand],
  };
}

/** Equal, or both NULL. */
function notDistinct(left: Expression, right: Expression): Expression {
  const bool = { type: "bool", scale: 0, nullable: false } as const;
  const isNull = (operand: Expression): Expression => ({ ...bool, kind: "is null", operand });
  return {
    ...bool,
    kind: "case",
    branches: [
      { when: isNull(left), result: isNull(right) },
      { when: isNull(right), result: { ...bool, kind: "constant", value: false } },
    ],
    otherwise: {
      ...bool,
      nullable: left.nullable || right.nullable,
      kind: "compare",
      operator: "=",
      left,
      right,
    },
  };
}
