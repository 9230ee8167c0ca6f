import type { PlanExpression } from "../../../sql/index.js";
import { fix, type Relation, repeated } from "../relation.js";
import { both, moving } from "../sign.js";
import { type ExpressionSite, link } from "../site.js";
import { type ColumnFacts, type ColumnOrigin, PLAIN } from "../value.js";
import { truthOf, valueFor } from "./expression.js";
import type { Truth } from "./truth.js";
import { withoutWidening } from "./widening.js";

/** Selecting asks each row by itself, so rows only come, unless a condition is about something that moves. */
export function filterRelation(site: ExpressionSite, input: Relation, predicate: PlanExpression): Relation {
  const truth = truthOf(site, predicate);
  for (const each of conjuncts(predicate)) equate(site, input, each);
  return { ...input, rows: both(input.rows, truth.moves), repetition: minded(input, truth) };
}

export function projectRelation(
  site: ExpressionSite,
  input: Relation,
  expressions: readonly PlanExpression[],
): Relation {
  const values: ColumnFacts[] = expressions.map(() => PLAIN);
  // Subqueries first: what they are compared with tells their parts apart, and may be another column here.
  const plain = (expression: PlanExpression) =>
    expression.kind === "column" || expression.kind === "constant";
  for (const [i, each] of expressions.entries()) if (!plain(each)) values[i] = valueFor(site, each);
  for (const [i, each] of expressions.entries()) if (plain(each)) values[i] = valueFor(site, each);
  return { ...input, columns: values };
}

/** The conditions that must all hold. */
export function conjuncts(expression: PlanExpression): PlanExpression[] {
  return expression.kind === "operator" && expression.operator === "and"
    ? expression.operands.flatMap(conjuncts)
    : [expression];
}

/** Both ways to read an equality. */
export function sidesOf(expression: PlanExpression): [PlanExpression, PlanExpression][] {
  if (expression.kind !== "operator" || expression.operator !== "=") return [];
  const [a, b] = expression.operands.map(withoutWidening);
  return a === undefined || b === undefined
    ? []
    : [
        [a, b],
        [b, a],
      ];
}

/** Columns that must be equal have the same origins; one that must equal a constant has only one part that matters. */
function equate(site: ExpressionSite, relation: Relation, condition: PlanExpression): void {
  for (const [mine, theirs] of sidesOf(condition)) {
    const value = valueFor(site, mine);
    const other = valueFor(site, theirs);
    if (mine.kind === "column" && mine.depth > 0) continue;
    if (theirs.kind === "parameter") site.findings.ask(value.origins, theirs.number);
    if (other.constant) fix(relation, value.origins);
    if (theirs.kind !== "column" || moving(other.moves).length > 0 || moving(value.moves).length > 0)
      continue;
    if (theirs.depth > 0) bind(relation, value.origins, theirs.depth);
    link(site, theirs, value.origins);
  }
}

/** A column is compared with one of a query `depth` levels further out. */
export function bind(relation: Relation, origins: readonly ColumnOrigin[], depth: number): void {
  const exact = origins.filter(({ injective }) => injective);
  relation.bound = [...relation.bound, ...exact.map(({ scan, attribute }) => ({ scan, attribute, depth }))];
}

export function minded(relation: Relation, { minds }: Truth): Relation["repetition"] {
  return repeated(relation, [{ ...PLAIN, minds }], null);
}
