import type { PlanExpression, SqlOperator } from "../../../sql/index.js";
import { both, type Sign, type Signs, STILL, turned, wavering } from "../sign.js";
import type { ExpressionSite } from "../site.js";
import { type ColumnFacts, PLAIN, union } from "../value.js";

/** How the truth of a condition moves, and whose repetition it minds. */
export interface Truth {
  readonly moves: Signs;
  readonly minds: ReadonlySet<number>;
}

export const OPPOSITE: Readonly<Partial<Record<SqlOperator, SqlOperator>>> = {
  "=": "<>",
  "<>": "=",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
  "is null": "is not null",
  "is not null": "is null",
  "is distinct from": "is not distinct from",
  "is not distinct from": "is distinct from",
};

/** A comparison of two values, or a question about one. */
export function comparisonTruth(operator: SqlOperator, values: readonly ColumnFacts[]): Truth {
  const [a = PLAIN, b = PLAIN] = values;
  const minds = union(a.minds, b.minds);
  if (operator === ">" || operator === ">=") return { moves: both(larger(a), smaller(b)), minds };
  if (operator === "<" || operator === "<=") return { moves: both(smaller(a), larger(b)), minds };
  const asksForNull = operator === "is null" || operator === "is not null";
  return { moves: asksForNull && a.nulls === "never" ? STILL : wavering(a.moves, b.moves), minds };
}

/** How "this is more than something" moves. */
export function larger({ moves, nulls }: ColumnFacts): Signs {
  return nulls === "never" || nulls === "low" ? moves : wavering(moves);
}

/** How "this is less than something" moves. */
export function smaller({ moves, nulls }: ColumnFacts): Signs {
  return nulls === "never" || nulls === "high" ? turned(moves) : wavering(moves);
}

export function allTruths(truths: readonly Truth[]): Truth {
  return {
    moves: both(...truths.map(({ moves }) => moves)),
    minds: union(...truths.map(({ minds }) => minds)),
  };
}

/** A condition with what there is to say about it. */
export function noted(
  site: ExpressionSite,
  expression: PlanExpression,
  negated: boolean,
  truth: Truth,
): Truth {
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
