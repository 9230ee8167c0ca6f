import type { LogicalPlan, OverCall, PlanExpression } from "../../../sql/index.js";
import { columnType } from "../column-types.js";
import { allScans, meetIn, type Relation } from "../relation.js";
import { wavering } from "../sign.js";
import type { ExpressionSite } from "../site.js";
import { type ColumnFacts, PLAIN, union } from "../value.js";
import { valueFor } from "./expression.js";

/**
 * A function with OVER gives every row a value that depends on the other rows of its partition: a row that comes later changes
 * it. Rows meet in their partition, and the rows themselves stay.
 */
export function overRelation(
  site: ExpressionSite,
  input: Relation,
  plan: Extract<LogicalPlan, { kind: "over" }>,
): Relation {
  const scans = allScans(input);
  site.findings.meet(scans, scans);
  const added = plan.functions.map((each) => overValue(site, input, each));
  let parts = input.parts;
  for (const { partition, span } of plan.functions) {
    const keys = partition.map((each) => valueFor(site, each));
    for (const { origins } of keys) site.findings.equate(origins);
    parts = meetIn({ ...input, parts }, keys, site.findings);
    site.findings.note(scans, "OVER: a row that comes later changes the value of the others", span, true);
  }
  return {
    ...input,
    columns: [...input.columns, ...added],
    parts,
    kept: new Set([...input.kept, ...scans]),
  };
}

function overValue(site: ExpressionSite, input: Relation, over: OverCall): ColumnFacts {
  const values = expressionsOf(over).map((each) => valueFor(site, each));
  const rank = over.function.kind === "rank" || over.function.kind === "share";
  // A row that comes twice is counted twice, and moves the rows after it.
  const minders = [...input.repetition].filter(([, each]) => each !== "absorbs").map(([scan]) => scan);
  return {
    ...PLAIN,
    moves: wavering(input.rows, ...values.map(({ moves }) => moves)),
    nulls: rank ? "never" : "any",
    lacks: !rank,
    nonNegative: rank,
    type: columnType(over.type),
    minds: union(new Set(minders), ...values.map(({ minds }) => minds)),
    what: over.span,
  };
}

function expressionsOf({ function: what, partition, order }: OverCall): PlanExpression[] {
  const shared = [...partition, ...order.map(({ expression }) => expression)];
  switch (what.kind) {
    case "rank":
    case "share":
      return shared;
    case "neighbour":
      return [...shared, what.operand, ...(what.otherwise === null ? [] : [what.otherwise])];
    case "edge":
    case "nth":
      return [...shared, what.operand];
    case "aggregate": {
      const { operands, filter, order: own } = what.aggregate;
      const inside = own.map(({ expression }) => expression);
      return [...shared, ...operands, ...inside, ...(filter === null ? [] : [filter])];
    }
  }
}
