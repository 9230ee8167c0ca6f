import type { Aggregate } from "../plan/index.js";
import { sumType } from "./aggregate-state.js";
import { compared } from "./arithmetic.js";
import { blank } from "./blank.js";
import { cast } from "./casts.js";
import type { CodeBuilder, Value } from "./code.js";
import { compile } from "./expression.js";

/**
 * What a row does to the state of one aggregate, at row `r` of the table of groups. The weight of the row is `w`, which is 1
 * where rows are never taken back.
 */

/** An operand's value, and when the row counts. */
export interface Operand extends Value {
  /** An expression, or `null` if the row always counts. */
  readonly counts: string | null;
}

export function operandOf(
  code: CodeBuilder,
  aggregate: Aggregate,
  retracts: boolean,
  row: readonly Value[],
): Operand {
  const { operand, filter } = aggregate;
  const one: Value = { v: "1", n: null };
  const value = () => {
    if (operand === null) return one;
    const given = compile(code, operand, row);
    if (aggregate.name !== "sum" && aggregate.name !== "avg") return given;
    const sum = sumType(aggregate, retracts);
    if (sum.type === operand.type && sum.scale === operand.scale) return given;
    return { v: code.bind(cast(code, operand, sum, given.v)), n: given.n };
  };
  if (filter === null) {
    const { v, n, text } = value();
    return { v, n, ...(text === undefined ? {} : { text }), counts: n === null ? null : `!${n}` };
  }
  const passes = compile(code, filter, row);
  const [counts, name, isNull] = [code.name(), code.name(), code.name()];
  // array_agg takes NULL as a value: its row counts whenever it passes.
  const isList = aggregate.name === "array_agg";
  code.line(`let ${counts} = false, ${name} = ${blank(operand ?? aggregate)}, ${isNull} = false;`);
  code.block(passes.n === null ? `if (${passes.v})` : `if (!${passes.n} && ${passes.v})`, () => {
    const { v, n } = value();
    code.line(`${counts} = ${n === null || isList ? "true" : `!${n}`};`, `${name} = ${v};`);
    if (isList && n !== null) code.line(`${isNull} = ${n};`);
  });
  return { v: name, n: isList ? isNull : null, counts };
}

/** Computes the next state of one aggregate now, and returns what writes it. */
export function advance(
  code: CodeBuilder,
  aggregate: Aggregate,
  { v, counts }: Operand,
  place: number,
  w: string,
): () => void {
  const [first, second] = [`s${place}`, `s${place + 1}`];
  const retracts = w !== "1";
  const when = (lines: readonly string[]) => () =>
    counts === null ? code.line(...lines) : code.block(`if (${counts})`, () => code.line(...lines));
  switch (aggregate.name) {
    case "count":
      return when([`${first}[r] += ${w};`]);
    case "sum":
    case "avg":
      return when(summed(code, aggregate, v, counts, place, w));
    case "min":
    case "max":
    case "latest":
      return when(extreme(code, aggregate, v, place));
    case "bool_and":
    case "bool_or": {
      if (retracts) return when([`if (${v}) ${first}[r] += ${w}; else ${second}[r] += ${w};`]);
      const joined =
        aggregate.name === "bool_and" ? `${first}[r] & (${v} ? 1 : 0)` : `${first}[r] | (${v} ? 1 : 0)`;
      return when([`${first}[r] = ${first}n[r] === 1 ? (${v} ? 1 : 0) : ${joined};`, `${first}n[r] = 0;`]);
    }
    default:
      return () => {};
  }
}

function summed(
  code: CodeBuilder,
  aggregate: Aggregate,
  v: string,
  counts: string | null,
  place: number,
  w: string,
): string[] {
  const retracts = w !== "1";
  const { type } = sumType(aggregate, retracts);
  const [count, sum] = [`s${place}`, `s${place + 1}`];
  const counted = `${count}[r] += ${w};`;
  if (retracts && type === "float") {
    const [nan, up, down] = [2, 3, 4].map((offset) => `s${place + offset}[r] += ${w};`);
    return [
      `if (${v} - ${v} === 0) ${sum}[r] += ${w} * ${v}; else if (${v} !== ${v}) ${nan} else if (${v} > 0) ${up} else ${down}`,
      counted,
      // What rounding left over goes with the last value.
      `if (${count}[r] === 0) ${sum}[r] = 0;`,
    ];
  }
  const column = `table.columns[${place + 1}]`;
  const before = type === "numeric" ? numericAt(sum, column) : `${sum}[r]`;
  const next = code.name();
  const given = !retracts
    ? v
    : type === "numeric"
      ? `(${w} === 1 ? ${v} : ${code.call("multiplyNumeric", [v, w])})`
      : `${w} * ${v}`;
  const after =
    type === "numeric"
      ? code.call("addNumeric", [before, given])
      : type === "int"
        ? code.call("int", [`${before} + ${given}`], true)
        : `${before} + ${given}`;
  code.line(
    `let ${next} = 0;`,
    counts === null ? `${next} = ${after};` : `if (${counts}) ${next} = ${after};`,
  );
  const store = type === "numeric" ? `library.setNumeric(${column}, r, ${next});` : `${sum}[r] = ${next};`;
  return [store, counted];
}

function extreme(code: CodeBuilder, { name, type }: Aggregate, v: string, place: number): string[] {
  const column = `table.columns[${place}]`;
  const state = `s${place}`;
  const operator = name === "min" ? "<" : ">";
  const isText = type === "text" || type === "json";
  const before = isText
    ? `${column}.texts.get(${state}[r])`
    : type === "numeric"
      ? numericAt(state, column)
      : `${state}[r]`;
  const further =
    type === "bool" ? `(${v} ? 1 : 0) ${operator} ${before}` : compared(code, operator, type, v, before);
  const store = isText
    ? `table.setText(${place}, r, ${v});`
    : type === "numeric"
      ? `library.setNumeric(${column}, r, ${v}); ${state}n[r] = 0;`
      : `${state}[r] = ${type === "bool" ? `(${v} ? 1 : 0)` : v}; ${state}n[r] = 0;`;
  return [`if (${state}n[r] === 1 || ${further}) { ${store} }`];
}

export function numericAt(values: string, column: string): string {
  return `(${values}[r] === ${values}[r] ? ${values}[r] : ${column}.bigs.get(r))`;
}
