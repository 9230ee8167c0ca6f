import type { PlanExpression, LogicalPlan as SqlPlan } from "../../sql/index.js";
import type { Plan } from "../plan/index.js";
import { conjuncts } from "../plan/index.js";
import { answersFor } from "./answers.js";
import { Expressions } from "./expression.js";
import { meeting } from "./join-keys.js";
import { looksOut } from "./outer-columns.js";
import { conjunctsOf, decorrelated, mapColumns, subqueriesIn } from "./subqueries.js";
import type { Lowering } from "./subquery-joins.js";

type SqlAggregate = Extract<SqlPlan, { kind: "aggregate" }>;

/**
 * A subquery in the place of a value, which is an aggregate without GROUP BY, as a join. It gives one row, whatever comes. If its WHERE
 * compares columns of the query around it by equality, it is grouped by what is compared with them and left-joined: where there is no
 * group, its aggregates are those of no rows, which are NULL, and 0 for counts. Otherwise it has an answer for every value of the
 * columns that it uses (`dependent.ts`).
 */
export function scalarJoin(
  left: Plan,
  subquery: PlanExpression & { readonly kind: "scalar" },
  lowering: Lowering,
): { readonly input: Plan; readonly value: PlanExpression } {
  const { plan, span } = subquery;
  const aggregate = plan.kind === "project" ? plan.input : plan;
  if (aggregate.kind !== "aggregate" || looksOut(aggregate.aggregates))
    return answered(left, subquery, lowering);
  const written = plan.kind === "project" ? plan.outputs.map(({ expression }) => expression) : [];
  if (written.some((each) => subqueriesIn(each).length > 0)) return answered(left, subquery, lowering);
  const found = decorrelated(aggregate.input, false);
  const pairs = found?.conditions.flatMap(conjunctsOf).map(sidesOf) ?? [null];
  const sides = pairs.filter((each) => each !== null);
  if (found === null || sides.length < pairs.length) return answered(left, subquery, lowering);
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
  if (value === undefined) return answered(left, subquery, lowering);
  return { input, value: plan.kind === "project" ? overResults(value, results) : value };
}

/** As a join with the answers for the values that the rows have: each row meets one. */
function answered(
  left: Plan,
  { plan, type, nullable, span }: PlanExpression & { readonly kind: "scalar" },
  lowering: Lowering,
): { readonly input: Plan; readonly value: PlanExpression } {
  const found = answersFor(left, plan, lowering);
  const right = lowering.part(found.plan);
  const index = left.columns.length;
  const both = new Expressions(lowering.text, [...left.columns, ...right.columns]);
  const conditions = found.conditions.map((each) =>
    both.lower(
      mapColumns(each, (one) =>
        one.depth === 0 ? { ...one, index: one.index + index } : { ...one, depth: 0 },
      ),
    ),
  );
  const input: Plan = {
    ...meeting(conditions.flatMap(conjuncts), index),
    ...{ kind: "join", join: "inner", isTemporal: false, left, right, span },
    columns: [...left.columns, ...right.columns],
  };
  return { input, value: { kind: "column", index, depth: 0, type, nullable, span } };
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
