import { builtinById } from "../../sql/index.js";
import type { Expression, Type } from "../plan/index.js";
import { arithmetic, compared, negated } from "./arithmetic.js";
import { blank } from "./blank.js";
import { called } from "./calls.js";
import { cast } from "./casts.js";
import { anyNull, type CodeBuilder, type Value } from "./code.js";
import { likeMatcher, RowError } from "./lib/index.js";

/**
 * Writes the code of an expression over the columns of a row. Three-valued logic is two JavaScript values, the value and
 * whether it is NULL. What cannot be NULL has no second value and pays nothing for it. Operands that can fail are computed only
 * when they are needed: behind WHEN, and behind the operands of AND and OR that decide already.
 */
export function compile(code: CodeBuilder, expression: Expression, row: readonly Value[]): Value {
  const each = (operand: Expression) => compile(code, operand, row);
  switch (expression.kind) {
    case "column": {
      const value = row[expression.index];
      if (value === undefined) throw new RangeError(`There is no column ${expression.index}.`);
      return value;
    }
    case "constant":
      return expression.value === null
        ? { v: blank(expression), n: "true" }
        : { v: code.constant(expression.value), n: null };
    case "and":
    case "or":
      return logic(code, expression.kind, expression.operands, row);
    case "not": {
      const { v, n } = each(expression.operand);
      return { v: `!(${v})`, n };
    }
    case "is null":
      return { v: each(expression.operand).n ?? "false", n: null };
    case "compare":
      return strict(code, expression, [each(expression.left), each(expression.right)], ([a, b]) =>
        compared(code, expression.operator, expression.left.type, a, b),
      );
    case "arithmetic":
      return strict(code, expression, [each(expression.left), each(expression.right)], ([a, b]) =>
        arithmetic(code, expression.operator, expression.left, expression.right, expression, a, b),
      );
    case "negate":
      return strict(code, expression, [each(expression.operand)], ([a]) => negated(code, expression.type, a));
    case "like":
      return liked(code, expression, row);
    case "call":
      return strict(code, expression, expression.operands.map(each), (operands) =>
        called(code, expression.name, expression.operands, expression, operands),
      );
    case "builtin":
      return builtin(code, expression, expression.operands.map(each));
    case "cast": {
      const { operand } = expression;
      const value = each(operand);
      if (operand.type === expression.type && operand.scale === expression.scale) return value;
      return strict(code, expression, [value], ([a]) => cast(code, operand, expression, a));
    }
    case "case":
      return chosen(code, expression, row);
    case "coalesce":
      return coalesced(code, expression, row);
    case "greatest":
    case "least":
      return extreme(code, expression, row);
  }
}

/**
 * A function that is NULL if an operand is. One that can fail is not called then: what stands in the place of NULL is a
 * value of the type, but not one that the function need take.
 */
function strict(
  code: CodeBuilder,
  type: Type,
  operands: readonly Value[],
  result: (values: readonly [string, string, ...string[]]) => string,
): Value {
  const n = anyNull(operands);
  const names = operands.map(({ v }) => v);
  const failedBefore = code.canFail;
  code.canFail = false;
  const written = result([names[0] ?? "", names[1] ?? "", ...names.slice(2)]);
  const canFail = code.canFail;
  code.canFail = failedBefore || canFail;
  const isCheap = !canFail && !written.includes("library.");
  // A comparison is cheap enough to stand where it is used.
  if (isCheap && type.type === "bool") return { v: `(${written})`, n };
  if (n === null || isCheap) return { v: code.once(written), n };
  const isNull = code.once(n);
  return { v: code.once(`${isNull} ? ${blank(type)} : ${written}`), n: isNull };
}

/** A function of `sql/builtins`: a constant of the code, which may refuse the row, and may give NULL. */
function builtin(
  code: CodeBuilder,
  expression: Extract<Expression, { kind: "builtin" }>,
  operands: readonly Value[],
): Value {
  const found = builtinById(expression.id);
  if (found === undefined) throw new RangeError(`There is no function ${expression.id}.`);
  code.canFail = true;
  const n = found.takesNull === true ? null : anyNull(operands);
  const values = operands.map((each) =>
    n === null && each.n !== null ? `(${each.n} ? null : ${each.v})` : each.v,
  );
  const call = `${code.constant(found.run)}(${values.join(", ")})`;
  if (!found.signature.nullable) {
    if (n === null) return { v: code.once(call), n };
    const isNull = code.once(n);
    return { v: code.once(`${isNull} ? ${blank(expression)} : ${call}`), n: isNull };
  }
  const value = code.once(n === null ? call : `${n} ? null : ${call}`);
  const isNull = code.once(`${value} === null`);
  return { v: code.once(`${isNull} ? ${blank(expression)} : ${value}`), n: isNull };
}

/**
 * AND is false as soon as an operand is, and NULL if none is false and one is NULL; OR the other way round. Operands without code
 * of their own become one JavaScript expression; others stand in blocks that are passed over once the result is known.
 */
function logic(
  code: CodeBuilder,
  kind: "and" | "or",
  operands: readonly Expression[],
  row: readonly Value[],
): Value {
  const deciding = kind === "and" ? "false" : "true";
  const isDeciding = (v: string) => (kind === "and" ? `!(${v})` : v);
  const parts = operands.map((operand) => code.apart(() => compile(code, operand, row)));
  if (parts.every(({ lines, result }) => lines.length === 0 && result.n === null))
    return { v: `(${parts.map(({ result }) => result.v).join(kind === "and" ? " && " : " || ")})`, n: null };
  const hasNull = parts.some(({ result }) => result.n !== null);
  const [value, isNull] = [code.name(), code.name()];
  const undecided = kind === "and" ? value : `!${value}`;
  code.line(`let ${value} = ${kind === "and"}${hasNull ? `, ${isNull} = false` : ""};`);
  for (const { lines, result } of parts) {
    code.block(`if (${undecided})`, () => {
      code.line(...lines);
      const decide = `if (${isDeciding(result.v)}) { ${value} = ${deciding}; }`;
      code.line(result.n === null ? decide : `if (${result.n}) ${isNull} = true; else ${decide}`);
    });
  }
  return { v: value, n: hasNull ? `(${undecided} && ${isNull})` : null };
}

/** LIKE with a constant pattern is compiled when the query is; one that is wrong fails for each row, as in PostgreSQL. */
function liked(
  code: CodeBuilder,
  expression: Extract<Expression, { kind: "like" }>,
  row: readonly Value[],
): Value {
  const { pattern } = expression;
  const text = compile(code, expression.text, row);
  if (pattern.kind === "constant" && typeof pattern.value === "string" && isPattern(pattern.value)) {
    const matcher = code.constant(likeMatcher(pattern.value));
    return strict(code, expression, [text], ([a]) => `${matcher}(${a})`);
  }
  return strict(code, expression, [text, compile(code, pattern, row)], ([a, b]) =>
    code.call("like", [a, b], true),
  );
}

function isPattern(text: string): boolean {
  try {
    likeMatcher(text);
    return true;
  } catch (error) {
    if (error instanceof RowError) return false;
    throw error;
  }
}

/** Declares a result that several branches assign. */
class Result {
  readonly #value: string;
  readonly #isNull: string | null;

  constructor(
    readonly code: CodeBuilder,
    type: Type,
    assigns: readonly Expression[],
    canLack: boolean,
  ) {
    this.#value = code.name();
    this.#isNull = canLack || assigns.some(({ nullable }) => nullable) ? code.name() : null;
    code.line(
      `let ${this.#value} = ${blank(type)}${this.#isNull === null ? "" : `, ${this.#isNull} = true`};`,
    );
  }

  assign({ v, n }: Value): void {
    this.code.line(`${this.#value} = ${v};`);
    if (this.#isNull !== null) this.code.line(`${this.#isNull} = ${n ?? "false"};`);
  }

  get value(): Value {
    return { v: this.#value, n: this.#isNull };
  }
}

function chosen(
  code: CodeBuilder,
  expression: Extract<Expression, { kind: "case" }>,
  row: readonly Value[],
): Value {
  const { branches, otherwise } = expression;
  const results = [...branches.map(({ result }) => result), ...(otherwise === null ? [] : [otherwise])];
  const { nullable } = expression;
  const result = new Result(code, expression, nullable ? results : [], nullable && otherwise === null);
  const next = (i: number): void => {
    const branch = branches[i];
    if (branch === undefined) {
      if (otherwise !== null) result.assign(compile(code, otherwise, row));
      return;
    }
    const { v, n } = compile(code, branch.when, row);
    code.block(n === null ? `if (${v})` : `if (!${n} && ${v})`, () =>
      result.assign(compile(code, branch.result, row)),
    );
    if (i + 1 < branches.length || otherwise !== null) code.block("else", () => next(i + 1));
  };
  next(0);
  return result.value;
}

function coalesced(
  code: CodeBuilder,
  expression: Extract<Expression, { kind: "coalesce" }>,
  row: readonly Value[],
): Value {
  const { operands } = expression;
  const result = new Result(code, expression, expression.nullable ? operands : [], false);
  const next = (i: number): void => {
    const operand = operands[i];
    if (operand === undefined) return;
    const value = compile(code, operand, row);
    if (value.n === null) {
      result.assign(value);
      return;
    }
    code.block(`if (!${value.n})`, () => result.assign({ ...value, n: null }));
    if (i + 1 < operands.length) code.block("else", () => next(i + 1));
  };
  next(0);
  return result.value;
}

/** The greatest or least of the operands that are not NULL. */
function extreme(
  code: CodeBuilder,
  expression: Extract<Expression, { kind: "greatest" | "least" }>,
  row: readonly Value[],
): Value {
  const [value, isNull] = [code.name(), code.name()];
  code.line(`let ${value} = ${blank(expression)}, ${isNull} = true;`);
  for (const operand of expression.operands) {
    const { v, n } = compile(code, operand, row);
    const further = compared(code, expression.kind === "greatest" ? ">" : "<", expression.type, v, value);
    const taken = `if (${isNull} || ${further}) { ${value} = ${v}; ${isNull} = false; }`;
    code.line(n === null ? taken : `if (!${n}) ${taken}`);
  }
  return { v: value, n: expression.nullable ? isNull : null };
}
