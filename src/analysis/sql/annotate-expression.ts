import type { ColumnType } from "../graph.js";
import type { Operator, Scalar } from "./ast.js";
import type { Plan, PlanExpression } from "./plan.js";
import { embed, meetIn } from "./relation.js";
import { both, type Sign, type Signs, STILL, turned, wavering } from "./sign.js";
import { asAttribute, columnAt, inputsOf, link, type Site } from "./site.js";
import { castKeepsOrder, columnType, commonType } from "./types.js";
import { addOrigins, blurred, type Nulls, nullsOf, PLAIN, turnedNulls, union, type Value } from "./value.js";

/** How the truth of a condition moves, and whose repetition it minds. */
export interface Truth {
  readonly moves: Signs;
  readonly minds: ReadonlySet<number>;
}

const OPPOSITE: Readonly<Partial<Record<Operator, Operator>>> = {
  "=": "<>",
  "<>": "=",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
  "is null": "is not null",
  "is not null": "is null",
};

/** Functions that never turn two values around. */
const ORDERED_FUNCTIONS = new Set(["floor", "ceil", "ceiling", "round", "trunc"]);

/**
 * How the set of rows for which a condition is true moves. NOT is pushed down to the comparisons, where SQL's third truth
 * value does no harm: NOT (a > b) is a <= b, also when one is NULL.
 */
export function truthOf(site: Site, expression: PlanExpression, negated = false): Truth {
  if (expression.kind === "operator") {
    const { operator, operands } = expression;
    if (operator === "not") return allTruths(operands.map((each) => truthOf(site, each, !negated)));
    // A condition made of conditions with AND and OR moves as they do, if they move the same way.
    if (operator === "and" || operator === "or")
      return allTruths(operands.map((each) => truthOf(site, each, negated)));
    const opposite = OPPOSITE[operator];
    if (opposite !== undefined) return comparison(site, expression, negated ? opposite : operator, operands);
  }
  if (expression.kind === "exists" || expression.kind === "in") return membership(site, expression, negated);
  // A column that is true or false is compared with false (NOT: with true), of which false is the lesser.
  const value = valueFor(site, expression);
  const moves = negated ? smaller(value) : larger(value);
  return noted(site, expression, negated, { moves, minds: value.minds });
}

export function valueFor(site: Site, expression: PlanExpression): Value {
  switch (expression.kind) {
    case "column":
      return columnAt(site, expression);
    case "constant": {
      const nonNegative = typeof expression.value === "number" && expression.value >= 0;
      const lacks = expression.value === null;
      return { ...PLAIN, constant: true, nonNegative, lacks, type: typeOfConstant(expression.value) };
    }
    case "parameter":
      return { ...PLAIN, constant: true };
    case "scalar":
      return scalar(site, expression.plan);
    case "exists":
    case "in":
      return asValue(site, expression, truthOf(site, expression));
    case "operator":
      return asAttribute(site, expression, operatorValue(site, expression));
    case "call":
      return asAttribute(site, expression, callValue(site, expression));
    case "cast": {
      const value = valueFor(site, expression.operand);
      const kept = castKeepsOrder(value.type, expression.type);
      const made = kept ? { ...value, origins: blurred(value, true) } : opaque([value]);
      return asAttribute(site, expression, { ...made, type: columnType(expression.type) });
    }
    case "case": {
      const truths = expression.branches.map(({ when }) => asValue(site, when, truthOf(site, when)));
      const results = [...expression.branches.map(({ result }) => result), expression.otherwise];
      const all = [...truths, ...results.flatMap((each) => (each === null ? [] : [valueFor(site, each)]))];
      const type = commonType(all.slice(truths.length));
      const lacks = results.includes(null) || all.some((each) => each.lacks);
      return asAttribute(site, expression, { ...opaque(all), lacks, type });
    }
  }
}

function typeOfConstant(value: Scalar): ColumnType | null {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return value === null ? null : "text";
}

function operatorValue(site: Site, expression: Extract<PlanExpression, { kind: "operator" }>): Value {
  const { operator, operands } = expression;
  if (operator in OPPOSITE || ["and", "or", "not", "like"].includes(operator)) {
    return { ...asValue(site, expression, truthOf(site, expression)), type: "boolean" };
  }
  const values = operands.map((each) => valueFor(site, each));
  return { ...calculated(operator, values), type: operator === "||" ? "text" : typeOfResult(values) };
}

/** There is no arithmetic with texts. With times there is: an interval counts as a number here, and leaves a time a time. */
function typeOfResult(values: readonly Value[]): ColumnType {
  const time = values.find(({ type }) => type === "time" || type === "instant");
  return time?.type ?? "number";
}

function calculated(operator: Operator, values: readonly Value[]): Value {
  const [a = PLAIN, b = PLAIN] = values;
  const shift = b.constant ? blurred(a, true) : a.constant ? blurred(b, true) : opaque(values).origins;
  switch (operator) {
    case "+":
      return {
        ...opaque(values),
        moves: both(a.moves, b.moves),
        nulls: nullsOf(a.nulls, b.nulls),
        nonNegative: a.nonNegative && b.nonNegative,
        origins: shift,
      };
    case "-":
      return {
        ...opaque(values),
        moves: both(a.moves, turned(b.moves)),
        nulls: nullsOf(a.nulls, turnedNulls(b.nulls)),
        origins: b.constant ? shift : opaque(values).origins,
      };
    case "*": {
      const bothNonNegative = a.nonNegative && b.nonNegative;
      const known = bothNonNegative
        ? { moves: both(a.moves, b.moves), nulls: nullsOf(a.nulls, b.nulls) }
        : {};
      const scaled = bothNonNegative && (a.constant || b.constant) ? { origins: shift } : {};
      return { ...opaque(values), ...known, ...scaled, nonNegative: bothNonNegative };
    }
    case "/":
      return b.constant && b.nonNegative
        ? {
            ...opaque(values),
            moves: a.moves,
            nulls: a.nulls,
            nonNegative: a.nonNegative,
            origins: blurred(a, true),
          }
        : opaque(values);
    case "negate":
      return {
        ...opaque(values),
        moves: turned(a.moves),
        nulls: turnedNulls(a.nulls),
        origins: a.origins.map((origin) => ({ ...origin, orderPreserving: false })),
      };
    default:
      return opaque(values);
  }
}

function callValue(site: Site, { name, operands }: Extract<PlanExpression, { kind: "call" }>): Value {
  const values = operands.map((each) => valueFor(site, each));
  return { ...applied(name, operands, values), type: typeOfCall(name, values) };
}

function typeOfCall(name: string, values: readonly Value[]): ColumnType | null {
  if (["lower", "upper"].includes(name)) return "text";
  if (["coalesce", "greatest", "least"].includes(name)) return commonType(values);
  return name === "date_trunc" ? (values[1]?.type ?? null) : "number";
}

function applied(name: string, operands: readonly PlanExpression[], values: readonly Value[]): Value {
  const [a = PLAIN, b = PLAIN] = values;
  // Of these, NULL is only left if nothing else is.
  const one = ["coalesce", "greatest", "least"].includes(name);
  const least = { ...opaque(values), ...(one ? { lacks: values.every(({ lacks }) => lacks) } : {}) };
  if (ORDERED_FUNCTIONS.has(name)) return { ...a, origins: blurred(a, true) };
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

/** A value about which nothing is known but what it is made of. */
function opaque(values: readonly Value[]): Value {
  const origins = values.flatMap((value) => blurred(value, false));
  return addOrigins(
    {
      ...PLAIN,
      moves: wavering(...values.map(({ moves }) => moves)),
      nulls: "any",
      lacks: values.some(({ lacks }) => lacks),
      minds: union(...values.map(({ minds }) => minds)),
      constant: values.every(({ constant }) => constant),
      what: values.find(({ what }) => what !== null)?.what ?? null,
    },
    origins,
  );
}

/** A condition where a value is expected: that it can move is all that is kept of how it does. */
function asValue(site: Site, expression: PlanExpression, { moves, minds }: Truth): Value {
  const inputs = inputsOf(expression).filter(({ kind }) => kind === "column");
  const base = opaque(inputs.map((each) => valueFor(site, each)));
  return { ...base, moves: wavering(base.moves, moves), minds: union(base.minds, minds), constant: false };
}

function comparison(
  site: Site,
  whole: PlanExpression,
  operator: Operator,
  operands: readonly PlanExpression[],
): Truth {
  const [a = PLAIN, b = PLAIN] = operands.map((each) => valueFor(site, each));
  const minds = union(a.minds, b.minds);
  const moves =
    operator === ">" || operator === ">="
      ? both(larger(a), smaller(b))
      : operator === "<" || operator === "<="
        ? both(smaller(a), larger(b))
        : operator.startsWith("is") && a.nulls === "never"
          ? STILL
          : wavering(a.moves, b.moves);
  return noted(site, whole, false, { moves, minds });
}

/** How "this is more than something" moves. */
function larger({ moves, nulls }: Value): Signs {
  return nulls === "never" || nulls === "low" ? moves : wavering(moves);
}

/** How "this is less than something" moves. */
function smaller({ moves, nulls }: Value): Signs {
  return nulls === "never" || nulls === "high" ? turned(moves) : wavering(moves);
}

function allTruths(truths: readonly Truth[]): Truth {
  return {
    moves: both(...truths.map(({ moves }) => moves)),
    minds: union(...truths.map(({ minds }) => minds)),
  };
}

/**
 * EXISTS and IN come true with the first row that matches, and their opposites are taken back by it: they are antijoins
 * (section VII.B.2). Rows meet that agree in the columns that are compared, so these are the parts.
 */
function membership(
  site: Site,
  expression: Extract<PlanExpression, { kind: "exists" | "in" }>,
  negated: boolean,
): Truth {
  const [own] = site.stack;
  const inner = site.relation(expression.plan, site.stack);
  const column = expression.kind === "in" ? (inner.columns[0] ?? PLAIN) : null;
  const operand = expression.kind === "in" ? valueFor(site, expression.operand) : null;
  // What is compared with NULL is not known as soon as there is any row; so no row is like another one then.
  const lacks = operand?.lacks === true || column?.lacks === true;
  const matched = column === null || lacks ? [] : [column];
  inner.parts = meetIn(inner, matched, site.findings);
  if (own !== undefined) embed(own, inner, site.findings);
  if (expression.kind === "in" && !lacks) link(site, expression.operand, column?.origins ?? []);
  const rows = negated ? turned(inner.rows) : inner.rows;
  const minders = [...inner.repetition].filter(([, each]) => each === "minds").map(([scan]) => scan);
  const truth: Truth = {
    moves: both(rows, wavering(column?.moves ?? STILL, operand?.moves ?? STILL)),
    minds: union(new Set(minders), column?.minds ?? new Set(), operand?.minds ?? new Set()),
  };
  const words = `${negated ? "NOT " : ""}${expression.kind === "in" ? "IN" : "EXISTS"}`;
  const note = (sign: Sign, text: string, breaks: boolean) => {
    const scans = [...truth.moves].filter(([, each]) => each === sign).map(([scan]) => scan);
    site.findings.note(scans, text, expression.span, breaks);
  };
  note("grows", `${words}: once it is true it stays true`, false);
  const taker =
    expression.kind === "in" ? "a row that matches later, or has NULL there," : "a row that matches later";
  note("shrinks", `${words}: ${taker} takes back what was answered before`, true);
  note("wavers", `${words}: it can become true and false again`, true);
  return truth;
}

/** A query that stands for a value is an aggregate, which has made its parts already. */
function scalar(site: Site, plan: Plan): Value {
  const [own] = site.stack;
  const inner = site.relation(plan, site.stack);
  if (own !== undefined) embed(own, inner, site.findings);
  return { ...(inner.columns[0] ?? PLAIN), origins: [] };
}

function noted(site: Site, expression: PlanExpression, negated: boolean, truth: Truth): Truth {
  const words = site.text.slice(expression.span.start, expression.span.end).replace(/\s+/g, " ");
  const shown = negated ? `NOT ${words}` : words;
  const texts: Readonly<Record<Sign, string>> = {
    still: "",
    grows: `${shown}: a threshold that stays reached once it is reached`,
    shrinks: `${shown}: it can be true first and false later`,
    wavers: `${shown}: it can become true and false again`,
  };
  for (const sign of ["grows", "shrinks", "wavers"] as const) {
    const scans = [...truth.moves].filter(([, each]) => each === sign).map(([scan]) => scan);
    site.findings.note(scans, texts[sign], expression.span, sign !== "grows");
  }
  return truth;
}
