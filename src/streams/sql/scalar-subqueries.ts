import type { PlanExpression, LogicalPlan as SqlPlan } from "../../sql/index.js";
import type { Plan } from "../plan/index.js";
import { conjuncts } from "../plan/index.js";
import { Expressions } from "./expression.js";
import { meeting } from "./join-keys.js";
import { conjunctsOf, decorrelated, looksOut, mapColumns } from "./subqueries.js";
import type { Lowering } from "./subquery-joins.js";

type SqlAggregate = Extract<SqlPlan, { kind: "aggregate" }>;

const REFUSAL =
  "A subquery in the place of a value is an aggregate without GROUP BY, whose WHERE compares columns of the query around it by equality only. Write others as a join with a grouped subquery.";

/**
 * A subquery in the place of a value, as a join. One that aggregates gives one row, whatever comes. If it looks at the rows of the query
 * around it, it is grouped by what is compared with them and left-joined: where there is no group, its aggregates are those
 * of no rows, which are NULL, and 0 for counts.
 */
export function scalarJoin(
  left: Plan,
  subquery: PlanExpression & { readonly kind: "scalar" },
  lowering: Lowering,
): { readonly input: Plan; readonly value: PlanExpression } {
  const { plan, span } = subquery;
  const aggregate = plan.kind === "project" ? plan.input : plan;
  if (aggregate.kind !== "aggregate" || aggregate.grouped || looksOut(aggregate.aggregates))
    return lowering.refuse(span, REFUSAL);
  const found = decorrelated(aggregate.input, false);
  const pairs = found?.conditions.flatMap(conjunctsOf).map(sidesOf);
  if (found === null || pairs === undefined || pairs.some((each) => each === null))
    return lowering.refuse(span, REFUSAL);
  const sides = pairs.filter((each) => each !== null);
  const keys = sides.map(({ inner }) => inner);
  const right = lowering.part({
    ...aggregate,
    input: found.plan,
    grouped: keys.length > 0,
    keys,
    columns: [...keys.map(({ type, nullable }) => ({ name: "", type, nullable })), ...aggregate.columns],
  });
  const width = left.columns.length;
  const both = new Expressions(lowering.text, [...left.columns, ...right.columns]);
  const conditions = sides.map(({ outer, inner }, i) => {
    const { type, nullable } = inner;
    const key: PlanExpression = { kind: "column", index: width + i, depth: 0, type, nullable, span };
    const own = mapColumns(outer, (column) => ({ ...column, depth: 0 }));
    const operands = [own, key];
    return both.lower({ kind: "operator", operator: "=", operands, type: "bool", nullable: true, span });
  });
  const isOuter = keys.length > 0;
  const lacking = right.columns.map((spec) => (isOuter ? { ...spec, nullable: true } : spec));
  const input: Plan = {
    ...meeting(conditions.flatMap(conjuncts), width),
    ...{ kind: "join", join: isOuter ? "left" : "inner", isTemporal: false, left, right, span },
    columns: [...left.columns, ...lacking],
  };
  const first = width + keys.length;
  const results = aggregate.aggregates.map((each, i) => resultOf(each, first + i, isOuter));
  const value = plan.kind === "project" ? plan.outputs[0]?.expression : results[0];
  if (value === undefined) return lowering.refuse(span, REFUSAL);
  return { input, value: plan.kind === "project" ? overResults(value, results) : value };
}

/** What an aggregate gives for a row of the join. */
function resultOf(
  { name, type, nullable, span }: SqlAggregate["aggregates"][number],
  index: number,
  isOuter: boolean,
): PlanExpression {
  const value: PlanExpression = {
    kind: "column",
    index,
    depth: 0,
    type,
    nullable: nullable || isOuter,
    span,
  };
  if (name !== "count" || !isOuter) return value;
  const zero: PlanExpression = { kind: "constant", value: 0, type, nullable: false, span };
  return { kind: "call", name: "coalesce", operands: [value, zero], type, nullable: false, span };
}

function overResults(value: PlanExpression, results: readonly PlanExpression[]): PlanExpression {
  return mapColumns(value, (column) =>
    column.depth > 0 ? { ...column, depth: column.depth - 1 } : (results[column.index] ?? column),
  );
}

/** An equality between something of the subquery and something of the query around it. */
function sidesOf(
  condition: PlanExpression,
): { readonly inner: PlanExpression; readonly outer: PlanExpression } | null {
  if (condition.kind !== "operator" || condition.operator !== "=") return null;
  const [a, b] = condition.operands;
  if (a === undefined || b === undefined) return null;
  if (!looksOut(a) && isOuterOnly(b)) return { inner: a, outer: b };
  return !looksOut(b) && isOuterOnly(a) ? { inner: b, outer: a } : null;
}

function isOuterOnly(expression: PlanExpression): boolean {
  let isOuter = true;
  mapColumns(expression, (column) => {
    isOuter &&= column.depth === 1;
    return column;
  });
  return isOuter;
}
