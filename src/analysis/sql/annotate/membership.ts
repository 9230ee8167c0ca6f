import type { LogicalPlan, PlanExpression } from "../../../sql/index.js";
import { embed, meetIn } from "../relation.js";
import { both, type Sign, STILL, turned, wavering } from "../sign.js";
import { type ExpressionSite, link } from "../site.js";
import { type ColumnFacts, PLAIN, union } from "../value.js";
import type { Truth } from "./truth.js";

/**
 * EXISTS and IN come true with the first row that matches, and their opposites are taken back by it: they are antijoins
 * (section VII.B.2). Rows meet that agree in the columns that are compared, so these are the parts.
 */
export function membershipTruth(
  site: ExpressionSite,
  expression: Extract<PlanExpression, { kind: "exists" | "in" }>,
  values: readonly ColumnFacts[],
  negated: boolean,
): Truth {
  const [own] = site.stack;
  const inner = site.relation(expression.plan, site.stack);
  const columns = values.map((_, i) => inner.columns[i] ?? PLAIN);
  // What is compared with NULL is not known as soon as there is any row; so no row is like another one then.
  const lacks = [...values, ...columns].some((each) => each.lacks);
  // Only an equality keeps the rows of one value apart from all others.
  const isApart = !lacks && (expression.kind === "exists" || expression.comparison === "=");
  inner.parts = meetIn(inner, isApart ? columns : [], site.findings);
  if (own !== undefined) embed(own, inner, site.findings);
  if (expression.kind === "in" && isApart)
    for (const [i, operand] of expression.operands.entries()) link(site, operand, columns[i]?.origins ?? []);
  const rows = negated ? turned(inner.rows) : inner.rows;
  const minders = [...inner.repetition].filter(([, each]) => each === "minds").map(([scan]) => scan);
  const compared = [...columns, ...values];
  const truth: Truth = {
    moves: both(rows, wavering(...compared.map(({ moves }) => moves), STILL)),
    minds: union(new Set(minders), ...compared.map(({ minds }) => minds)),
  };
  say(site, expression, truth, negated);
  return truth;
}

function say(
  site: ExpressionSite,
  { kind, span }: Extract<PlanExpression, { kind: "exists" | "in" }>,
  { moves }: Truth,
  negated: boolean,
): void {
  const words = `${negated ? "NOT " : ""}${kind === "in" ? "IN" : "EXISTS"}`;
  const note = (sign: Sign, text: string, breaks: boolean) => {
    const scans = [...moves].filter(([, each]) => each === sign).map(([scan]) => scan);
    site.findings.note(scans, text, span, breaks);
  };
  note("grows", `${words}: once it is true it stays true`, false);
  const taker = kind === "in" ? "a row that matches later, or has NULL there," : "a row that matches later";
  note("shrinks", `${words}: ${taker} takes back what was answered before`, true);
  note("wavers", `${words}: it can become true and false again`, true);
}

/** A query that stands for a value is an aggregate, which has made its parts already. */
export function scalarValue(site: ExpressionSite, plan: LogicalPlan): ColumnFacts {
  const [own] = site.stack;
  const inner = site.relation(plan, site.stack);
  if (own !== undefined) embed(own, inner, site.findings);
  return { ...(inner.columns[0] ?? PLAIN), origins: [] };
}
