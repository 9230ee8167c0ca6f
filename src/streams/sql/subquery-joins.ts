import type { PlanExpression, Span, LogicalPlan as SqlPlan } from "../../sql/index.js";
import { column } from "../columns/index.js";
import { conjunction, conjuncts, type Expression, type Plan } from "../plan/index.js";
import { answersFor } from "./answers.js";
import { Expressions } from "./expression.js";
import { meeting } from "./join-keys.js";
import { scalarJoin } from "./scalar-subqueries.js";
import { decorrelated, isSubquery, mapColumns, replaced, type Subquery, subqueriesIn } from "./subqueries.js";

/** What the lowering of subqueries needs of the lowering of queries. */
export interface Lowering {
  readonly text: string;
  readonly part: (plan: SqlPlan) => Plan;
  readonly refuse: (span: Span, what: string) => never;
  /** What some parts of a query have become already: the values that the answers of a subquery are for. */
  readonly given: Map<SqlPlan, Plan>;
}

interface Replaced {
  readonly input: Plan;
  readonly expressions: readonly PlanExpression[];
}

const BOOL = { type: "bool", scale: 0, nullable: false } as const;

/**
 * Subqueries in expressions become joins of the rows that the expressions are about. EXISTS and IN: a mark join, whose truth
 * value is a column behind those of the rows, with NULL where SQL has it. Scalar subqueries: see `scalar-subqueries.ts`.
 */
export function withSubqueries(
  given: Plan,
  expressions: readonly PlanExpression[],
  lowering: Lowering,
): Replaced {
  let input = given;
  const made = expressions.map((expression) =>
    replaced(expression, (part) => {
      if (!isSubquery(part)) return null;
      const { type, nullable, span } = part;
      if (part.kind === "scalar") {
        const made = scalarJoin(input, part, lowering);
        input = made.input;
        return made.value;
      }
      const operands = part.kind === "in" ? withSubqueries(input, part.operands, lowering) : null;
      input = operands?.input ?? input;
      const asked = operands === null ? part : { ...part, operands: operands.expressions };
      input = joined("mark", input, asked, lowering);
      return { kind: "column", index: input.columns.length - 1, depth: 0, type, nullable, span };
    }),
  );
  return { input, expressions: made };
}

/** The same for all expressions in the part of a plan that stands over some rows, such as the keys and operands of a grouping. */
export function withSubqueriesIn<T extends SqlPlan & { readonly input: SqlPlan }>(
  given: Plan,
  part: T,
  lowering: Lowering,
): { readonly input: Plan; readonly part: T } {
  let input = given;
  const again = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(again);
    if (typeof each !== "object" || each === null) return each;
    if ("kind" in each && isSubquery(each as PlanExpression)) {
      const made = withSubqueries(input, [each as PlanExpression], lowering);
      input = made.input;
      return made.expressions[0];
    }
    return Object.fromEntries(Object.entries(each).map(([name, below]) => [name, again(below)]));
  };
  const { input: below, ...own } = part;
  return { part: { ...part, ...(again(own) as typeof own) }, input };
}

/**
 * A condition of WHERE that is a subquery, or NOT EXISTS of one, needs no truth value: it is a semi or an anti join. `null` for
 * other conditions.
 */
export function filteredBySubquery(input: Plan, condition: PlanExpression, lowering: Lowering): Plan | null {
  const isNot = condition.kind === "operator" && condition.operator === "not";
  const inner = isNot ? condition.operands[0] : condition;
  if (inner === undefined || !isSubquery(inner) || inner.kind === "scalar") return null;
  if (isNot && inner.kind === "in" && inner.nullable) return null;
  if (inner.kind === "in" && inner.operands.some((each) => subqueriesIn(each).length > 0)) return null;
  return joined(isNot ? "anti" : "semi", input, inner, lowering);
}

function joined(
  join: "semi" | "anti" | "mark",
  left: Plan,
  subquery: Subquery & PlanExpression,
  lowering: Lowering,
): Plan {
  const { text, part } = lowering;
  const found =
    decorrelated(subquery.plan, subquery.kind === "exists") ?? answersFor(left, subquery.plan, lowering);
  const right = part(found.plan);
  const width = left.columns.length;
  const both = new Expressions(text, [...left.columns, ...right.columns]);
  const pairs = found.conditions.map((each) =>
    both.lower(
      mapColumns(each, (one) => ({
        ...one,
        depth: 0,
        index: one.depth === 0 ? one.index + width : one.index,
      })),
    ),
  );
  const operands = subquery.kind === "in" ? subquery.operands : [];
  const equal = operands.map((operand, i): Expression => {
    const { type = operand.type, nullable = true } = found.plan.columns[i] ?? {};
    const other: PlanExpression = {
      kind: "column",
      index: width + i,
      depth: 0,
      type,
      nullable,
      span: operand.span,
    };
    return both.lower({
      kind: "operator",
      operator: subquery.kind === "in" ? subquery.comparison : "=",
      operands: [operand, other],
      type: "bool",
      nullable: operand.nullable || nullable,
      span: operand.span,
    });
  });
  if (join !== "mark")
    return {
      ...meeting([...pairs, ...equal].flatMap(conjuncts), width),
      ...{ kind: "join", join, isTemporal: false, left, right, columns: left.columns, span: subquery.span },
    };
  // What keeps a row out of the subquery is true or not; only what is compared with IN can be unknown.
  const known = meeting([...pairs.flatMap(conjuncts), ...equal.filter(({ nullable }) => !nullable)], width);
  const unknown = conjunction(equal.filter(({ nullable }) => nullable));
  return {
    ...known,
    ...{ kind: "join", join, isTemporal: false, left, right, span: subquery.span },
    condition: known.condition === null ? unknown : onlyIf(known.condition, unknown),
    columns: [...left.columns, column("mark", "bool", subquery.nullable)],
  };
}

function onlyIf(when: Expression, result: Expression | null): Expression {
  const yes: Expression = { ...BOOL, kind: "constant", value: true };
  return {
    ...BOOL,
    nullable: result?.nullable ?? false,
    kind: "case",
    branches: [{ when, result: result ?? yes }],
    otherwise: { ...BOOL, kind: "constant", value: false },
  };
}
