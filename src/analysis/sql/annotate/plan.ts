import type { LogicalPlan } from "../../../sql/index.js";
import type { QueryFindings, Relation } from "../relation.js";
import type { ExpressionSite } from "../site.js";
import { aggregateRelation } from "./aggregate.js";
import { filterRelation, projectRelation } from "./filter.js";
import { joinRelation } from "./join.js";
import { overRelation } from "./over.js";
import { scanRelation, unitRelation, valuesRelation } from "./scan.js";
import {
  combinationRelation,
  distinctOnRelation,
  distinctRelation,
  limitRelation,
  unionRelation,
} from "./sets.js";
import type { TableFacts, Walk } from "./walk.js";
import { windowRelation } from "./window.js";

/**
 * Walks a plan from its tables up and keeps what can be known of each operator's rows when rows are added to the tables
 * in any order (Blazes, section VII.B): whether they only grow, in which parts of a table rows meet, where each column
 * comes from, and what a row does that comes twice.
 */
export function relationOf(
  plan: LogicalPlan,
  text: string,
  known: TableFacts,
  findings: QueryFindings,
): Relation {
  const subqueries = new Map<LogicalPlan, Relation>();
  const site = (stack: readonly Relation[]): ExpressionSite => ({
    text,
    findings,
    stack,
    relation: subquery,
  });
  const walk: Walk = { text, known, findings, site, at: (each, outer) => annotated(walk, each, outer) };
  return walk.at(plan, []);

  /** A subquery may be asked for again by an expression around it; it is walked once. */
  function subquery(inner: LogicalPlan, outer: readonly Relation[]): Relation {
    const found = subqueries.get(inner) ?? walk.at(inner, outer);
    subqueries.set(inner, found);
    return found;
  }
}

function annotated(walk: Walk, plan: LogicalPlan, outer: readonly Relation[]): Relation {
  switch (plan.kind) {
    case "unit":
      return unitRelation();
    case "values":
      return valuesRelation(plan);
    case "scan":
      return scanRelation(walk, plan);
    case "window":
      return windowRelation(walk, plan, walk.at(plan.input, outer));
    case "filter": {
      const input = walk.at(plan.input, outer);
      return filterRelation(walk.site([input, ...outer]), input, plan.predicate);
    }
    case "project": {
      const input = walk.at(plan.input, outer);
      const expressions = plan.outputs.map(({ expression }) => expression);
      return projectRelation(walk.site([input, ...outer]), input, expressions);
    }
    case "join":
      return joinRelation(walk, plan, outer);
    case "aggregate": {
      const input = walk.at(plan.input, outer);
      return aggregateRelation(walk.site([input, ...outer]), input, plan);
    }
    case "over": {
      const input = walk.at(plan.input, outer);
      return overRelation(walk.site([input, ...outer]), input, plan);
    }
    case "distinct":
      return distinctRelation(walk.findings, plan, walk.at(plan.input, outer));
    case "distinct on":
      return distinctOnRelation(walk.findings, plan, walk.at(plan.input, outer));
    case "union":
      return unionRelation(walk.at(plan.left, outer), walk.at(plan.right, outer));
    case "set operation":
      return combinationRelation(walk.findings, plan, walk.at(plan.left, outer), walk.at(plan.right, outer));
    case "limit":
      return limitRelation(walk.findings, plan, walk.at(plan.input, outer));
  }
}
