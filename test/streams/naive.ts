import { builtinById } from "#src/sql/index.js";
import type { Cell } from "#src/streams/columns/index.js";
import type { Expression } from "#src/streams/plan/expression.js";
import type { Aggregate, Plan, RowStep, SortKey } from "#src/streams/plan/physical.js";

/**
 * Plans by the book, over rows as arrays: what generated code is compared with. It shares nothing with the engine: integers
 * are BigInts, texts arrays of characters, LIKE a regular expression, and every operator looks at all its rows.
 */

/** A row that PostgreSQL would refuse. */
export class Refused extends Error {}

const INT_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export function evaluate(expression: Expression, row: readonly Cell[]): Cell {
  const again = (each: Expression) => evaluate(each, row);
  switch (expression.kind) {
    case "column":
      return row[expression.index] ?? null;
    case "constant":
      return expression.value as Cell;
    case "builtin": {
      const operands = expression.operands.map(again);
      const run = builtinById(expression.id)?.run as ((...values: readonly Cell[]) => Cell) | undefined;
      if (run === undefined) throw new RangeError(expression.id);
      return operands.includes(null) ? null : run(...operands);
    }
    case "and": {
      let result: Cell = true;
      for (const operand of expression.operands) {
        const value = again(operand);
        if (value === false) return false;
        if (value === null) result = null;
      }
      return result;
    }
    case "or": {
      let result: Cell = false;
      for (const operand of expression.operands) {
        const value = again(operand);
        if (value === true) return true;
        if (value === null) result = null;
      }
      return result;
    }
    case "not": {
      const value = again(expression.operand);
      return value === null ? null : value !== true;
    }
    case "is null":
      return again(expression.operand) === null;
    case "compare": {
      const [a, b] = [again(expression.left), again(expression.right)];
      if (a === null || b === null) return null;
      const order = compare(a, b);
      return {
        "=": order === 0,
        "<>": order !== 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
      }[expression.operator];
    }
    case "arithmetic": {
      const [a, b] = [again(expression.left), again(expression.right)];
      return a === null || b === null ? null : calculate(expression, a, b);
    }
    case "negate": {
      const value = again(expression.operand);
      return value === null ? null : expression.type === "float" ? -Number(value) : 0 - Number(value);
    }
    case "like": {
      const [text, pattern] = [again(expression.text), again(expression.pattern)];
      return text === null || pattern === null ? null : like(String(text), String(pattern));
    }
    case "call": {
      const operands = expression.operands.map(again);
      return operands.includes(null) ? null : call(expression.name, operands);
    }
    case "cast": {
      const value = again(expression.operand);
      return value === null ? null : cast(value, expression.operand.type, expression.type);
    }
    case "case": {
      const branch = expression.branches.find(({ when }) => again(when) === true);
      if (branch !== undefined) return again(branch.result);
      return expression.otherwise === null ? null : again(expression.otherwise);
    }
    case "coalesce": {
      for (const operand of expression.operands) {
        const value = again(operand);
        if (value !== null) return value;
      }
      return null;
    }
    case "greatest":
    case "least": {
      const values = expression.operands
        .map(again)
        .filter((value) => value !== null)
        .sort(compare);
      return (
        (expression.kind === "greatest"
          ? values.findLast((each) => compare(each, values.at(-1) ?? 0) === 0)
          : values[0]) ?? null
      );
    }
  }
}

export function compare(a: Exclude<Cell, null>, b: Exclude<Cell, null>): number {
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

function calculate({ operator, type }: Extract<Expression, { kind: "arithmetic" }>, a: Cell, b: Cell): Cell {
  if (type === "int") {
    const [x, y] = [BigInt(Number(a)), BigInt(Number(b))];
    if ((operator === "/" || operator === "%") && y === 0n) throw new Refused("division by zero");
    const value = {
      "+": x + y,
      "-": x - y,
      "*": x * y,
      "/": y === 0n ? 0n : x / y,
      "%": y === 0n ? 0n : x % y,
    }[operator];
    if (value > INT_MAX || value < -INT_MAX) throw new Refused("out of range");
    return Number(value);
  }
  const [x, y] = [Number(a), Number(b)];
  if (operator === "/" && y === 0) throw new Refused("division by zero");
  const value = { "+": x + y, "-": x - y, "*": x * y, "/": x / y, "%": x % y }[operator];
  const bothFinite = Number.isFinite(x) && Number.isFinite(y);
  if (type === "float" && bothFinite && !Number.isFinite(value)) throw new Refused("overflow");
  if (
    type === "float" &&
    value === 0 &&
    x !== 0 &&
    (operator === "*" ? y !== 0 : operator === "/" && Number.isFinite(y))
  )
    throw new Refused("underflow");
  return value;
}

function like(text: string, pattern: string): boolean {
  let source = "";
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character === "%") source += "[^]*";
    else if (character === "_") source += "(?:[\\ud800-\\udbff][\\udc00-\\udfff]|[^])";
    else {
      const meant = character === "\\" ? characters[++i] : character;
      if (meant === undefined) throw new Refused("escape at the end");
      source += [...meant]
        .flatMap((each) => each.split(""))
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join("");
    }
  }
  return new RegExp(`^(?:${source})$`).test(text);
}

function call(name: string, operands: readonly Cell[]): Cell {
  const [a, b, c] = operands;
  const text = [...String(a)];
  switch (name) {
    case "abs":
      return Math.abs(Number(a));
    case "floor":
      return Math.floor(Number(a));
    case "length":
      return text.length;
    case "upper":
      return String(a).toUpperCase();
    case "reverse":
      return text.toReversed().join("");
    case "concat":
      return operands.join("");
    case "left":
      return (
        Number(b) < 0 ? text.slice(0, Math.max(0, text.length + Number(b))) : text.slice(0, Number(b))
      ).join("");
    case "right":
      return (
        Number(b) < 0
          ? text.slice(Math.min(text.length, -Number(b)))
          : text.slice(text.length - Math.min(text.length, Number(b)))
      ).join("");
    case "substring": {
      if (Number(c) < 0) throw new Refused("negative length");
      return text.filter((_, i) => i + 1 >= Number(b) && i + 1 < Number(b) + Number(c)).join("");
    }
    case "strpos": {
      for (let i = 0; i <= text.length; i++) if (text.slice(i).join("").startsWith(String(b))) return i + 1;
      return 0;
    }
    case "split_part": {
      if (c === 0) throw new Refused("zero");
      const parts = b === "" ? [String(a)] : String(a).split(String(b));
      return (Number(c) > 0 ? parts[Number(c) - 1] : parts[parts.length + Number(c)]) ?? "";
    }
    default:
      throw new Error(`the naive evaluator has no ${name}`);
  }
}

function cast(value: Cell, from: string, to: string): Cell {
  if (from === "int" && to === "text") return BigInt(Number(value)).toString();
  if (from === "int" && to === "float") return Number(value);
  if (from === "bool" && to === "int") return value === true ? 1 : 0;
  if (from === "int" && to === "bool") return value !== 0;
  if (from === "bool" && to === "text") return value === true ? "true" : "false";
  if (from === "text" && to === "int") {
    const digits = /^\s*([+-]?\d+)\s*$/.exec(String(value))?.[1];
    if (digits === undefined) throw new Refused("no integer");
    const number = BigInt(digits.replace("+", ""));
    if (number > INT_MAX || number < -INT_MAX) throw new Refused("out of range");
    return Number(number);
  }
  if (from === "float" && to === "int") {
    const number = Number(value);
    const nearest = [Math.floor(number), Math.ceil(number)].sort(
      (x, y) => Math.abs(x - number) - Math.abs(y - number) || Math.abs(x % 2) - Math.abs(y % 2),
    )[0];
    if (!Number.isSafeInteger(nearest)) throw new Refused("out of range");
    return Number(nearest) + 0;
  }
  throw new Error(`the naive evaluator has no cast from ${from} to ${to}`);
}

export interface Answer {
  readonly rows: Cell[][];
  refused: number;
}

/** The rows of a plan over whole tables. A row that an expression refuses is left out and counted. */
export function naive(plan: Plan, tables: Readonly<Record<string, readonly (readonly Cell[])[]>>): Answer {
  const answer: Answer = { rows: [], refused: 0 };
  const attempt = <T>(work: () => T[]): T[] => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      answer.refused++;
      return [];
    }
  };
  const rowsOf = (part: Plan): Cell[][] => {
    switch (part.kind) {
      case "scan":
        return (tables[part.table] ?? []).map((row) => [...row]);
      case "step": {
        // Consecutive steps are refused or taken together, row by row.
        const steps: RowStep[] = [];
        let input: Plan = part;
        for (; input.kind === "step"; input = input.input) steps.unshift(input.step);
        return rowsOf(input).flatMap((row) => stepped(steps, row, attempt, (given) => [given]));
      }
      case "aggregate": {
        const steps: RowStep[] = [];
        let input: Plan = part.input;
        for (; input.kind === "step"; input = input.input) steps.unshift(input.step);
        const groups = new Map<string, { key: Cell[]; values: Cell[][][] }>();
        const group = (key: Cell[]) => {
          const name = key.map((each) => (each === 0 ? "0" : JSON.stringify(each) + String(each))).join();
          const known = groups.get(name) ?? { key, values: part.aggregates.map(() => []) };
          groups.set(name, known);
          return known;
        };
        if (part.keys.length === 0) group([]);
        for (const row of rowsOf(input))
          stepped(steps, row, attempt, (given) => {
            const operands = part.aggregates.map(({ operand, filter }) => {
              if (filter !== null && evaluate(filter, given) !== true) return null;
              return [operand === null ? 1 : evaluate(operand, given)];
            });
            const found = group(part.keys.map((key) => evaluate(key, given)));
            for (const [i, value] of operands.entries()) if (value !== null) found.values[i]?.push(value);
            return [];
          });
        return [...groups.values()].map(({ key, values }) => [
          ...key,
          ...part.aggregates.map((aggregate, i) => aggregated(aggregate, (values[i] ?? []).flat())),
        ]);
      }
      case "join": {
        const [left, right] = [rowsOf(part.left), rowsOf(part.right)];
        const isMet = new Set<Cell[]>();
        const nulls = (side: Plan) => side.columns.map(() => null);
        const pairs = left.flatMap((row) => {
          const truths: (boolean | null)[] = [];
          const matches = right.flatMap((other) =>
            attempt(() => {
              const equal = part.leftKeys.every((key, i) => {
                const rightKey = part.rightKeys[i];
                const [a, b] = [
                  evaluate(key, row),
                  rightKey === undefined ? null : evaluate(rightKey, other),
                ];
                return a !== null && b !== null && compare(a, b) === 0;
              });
              if (!equal) return [];
              const pair = [...row, ...other];
              const truth = part.condition === null || evaluate(part.condition, pair);
              truths.push(truth as boolean | null);
              if (truth === true) isMet.add(other);
              return truth === true ? [pair] : [];
            }),
          );
          switch (part.join) {
            case "semi":
              return matches.length > 0 ? [row] : [];
            case "anti":
              return matches.length > 0 ? [] : [row];
            case "mark":
              return [[...row, matches.length > 0 ? true : truths.includes(null) ? null : false]];
            default: {
              const isLone = matches.length === 0 && (part.join === "left" || part.join === "full");
              return isLone ? [[...row, ...nulls(part.right)]] : matches;
            }
          }
        });
        const lone = part.join === "right" || part.join === "full" ? right : [];
        return [
          ...pairs,
          ...lone.filter((row) => !isMet.has(row)).map((row) => [...nulls(part.left), ...row]),
        ];
      }
      case "union":
        return part.inputs.flatMap(rowsOf);
      case "unit":
        return [[]];
      case "over":
        throw new Error("functions with OVER are compared with the evaluator of SQL");
      case "sort":
        return rowsOf(part.input)
          .sort((a, b) => inOrder(part.order, a, b))
          .slice(part.offset, part.limit === null ? undefined : part.offset + part.limit);
      case "session": {
        const timed = rowsOf(part.input).filter((row) => row[part.time] !== null);
        const time = (row: readonly Cell[]) => Number(row[part.time]);
        const same = (a: readonly Cell[], b: readonly Cell[]) =>
          part.keys.every((key) => String(a[key]) === String(b[key]));
        // A session grows as long as a row lies within the gap of one that is in it.
        return timed.map((row) => {
          let [start, end] = [time(row), time(row)];
          for (let grew = true; grew; ) {
            grew = false;
            for (const other of timed) {
              if (!same(row, other) || time(other) <= start - part.gapMs || time(other) >= end + part.gapMs)
                continue;
              if (time(other) < start) [start, grew] = [time(other), true];
              if (time(other) > end) [end, grew] = [time(other), true];
            }
          }
          return [...row, start, end + part.gapMs];
        });
      }
    }
  };
  answer.rows.push(...rowsOf(plan));
  return answer;
}

type Attempt = <T>(work: () => T[]) => T[];

/** A row is refused as a whole; one that is in several windows in each of them apart. */
function stepped(
  steps: readonly RowStep[],
  row: Cell[],
  attempt: Attempt,
  consume: (row: Cell[]) => Cell[][],
): Cell[][] {
  const through = (at: number, given: Cell[]): Cell[][] => {
    const step = steps[at];
    if (step === undefined) return consume(given);
    switch (step.kind) {
      case "filter":
        return evaluate(step.predicate, given) === true ? through(at + 1, given) : [];
      case "project":
        return through(
          at + 1,
          step.outputs.map((output) => evaluate(output, given)),
        );
      case "window":
        return windowsOf(step, given).flatMap((each) => attempt(() => through(at + 1, each)));
    }
  };
  return attempt(() => through(0, row));
}

/** Every window that starts at a multiple of the slide and holds the time. */
function windowsOf(step: Extract<RowStep, { kind: "window" }>, row: Cell[]): Cell[][] {
  const time = row[step.time];
  if (typeof time !== "number") return [];
  const windows: Cell[][] = [];
  const first = Math.floor((time - step.sizeMs) / step.slideMs - 1) * step.slideMs + step.offsetMs;
  for (let start = first; start <= time; start += step.slideMs)
    if (time >= start && time < start + step.sizeMs) windows.push([...row, start, start + step.sizeMs]);
  return windows;
}

function aggregated({ name, distinct, type }: Aggregate, all: readonly Cell[]): Cell {
  const given = all.filter((each) => each !== null);
  const values = distinct
    ? given.filter((each, i) => given.findIndex((other) => compare(other, each) === 0) === i)
    : given;
  if (name === "count") return values.length;
  if (values.length === 0) return null;
  const sorted = [...values].sort(compare);
  switch (name) {
    case "min":
      return sorted[0] ?? null;
    case "max":
      return sorted.at(-1) ?? null;
    case "bool_and":
      return !values.includes(false);
    case "bool_or":
      return values.includes(true);
    default: {
      const sum =
        type === "float"
          ? values.reduce<number>((total, each) => total + Number(each), 0)
          : Number(values.reduce<bigint>((total, each) => total + BigInt(Number(each)), 0n));
      return name === "sum" ? sum : sum / values.length;
    }
  }
}

function inOrder(order: readonly SortKey[], a: readonly Cell[], b: readonly Cell[]): number {
  for (const { index, descending, nullsFirst } of order) {
    const [x = null, y = null] = [a[index], b[index]];
    if (x === null && y === null) continue;
    if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
    const difference = compare(x, y);
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}
