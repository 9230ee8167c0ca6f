import type { LogicalPlan as SqlPlan } from "../../sql/index.js";
import type { Plan } from "../plan/index.js";
import { Dependent } from "./dependent.js";
import { outerColumns } from "./outer-columns.js";
import { alikeOf } from "./same-value.js";
import { conjunctsOf, type Decorrelated } from "./subqueries.js";
import type { Lowering } from "./subquery-joins.js";
import { columnAt } from "./types.js";

/**
 * The answers of a subquery for the rows of `left`: those for every different value of the columns of `left` that it uses, and the
 * condition that a row meets its own.
 */
export function answersFor(left: Plan, plan: SqlPlan, { given, refuse }: Lowering): Decorrelated {
  const used = outerColumns(plan);
  const far = used.find(({ depth }) => depth > 1);
  if (far !== undefined)
    return refuse(
      far.span,
      "A subquery uses a column of a query that is not right around it. Write it as a join.",
    );
  const outer = used.map((column) => column);
  if (outer.length === 0) return { plan, conditions: [] };
  const keys = outer.flatMap(({ index }) => {
    const spec = left.columns[index];
    return spec === undefined ? [] : [{ spec, expression: columnAt(spec, index) }];
  });
  const columns = outer.map(({ type, nullable }) => ({ name: "", type, nullable }));
  const domain: SqlPlan = { kind: "scan", scan: -1, table: "", columns, span: plan.span };
  given.set(domain, {
    ...{ kind: "aggregate", input: left, aggregates: [], span: plan.span },
    keys: keys.map(({ expression }) => expression),
    columns: keys.map(({ spec }) => spec),
  });
  const slots = new Map(outer.map(({ index }, slot) => [index, slot]));
  const width = plan.columns.length;
  const same = alikeOf(
    outer.map((column, slot) => [column, { ...column, index: width + slot, depth: 0 }] as const),
    plan.span,
  );
  const conditions = same === null ? [] : conjunctsOf(same);
  return { plan: new Dependent(domain, slots).answers(plan), conditions };
}
