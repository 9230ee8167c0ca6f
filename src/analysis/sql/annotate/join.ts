import type { LogicalPlan, PlanExpression } from "../../../sql/index.js";
import {
  allScans,
  fix,
  meetIn,
  mergeInto,
  type Relation,
  type RowParts,
  settledColumns,
  settledRows,
} from "../relation.js";
import { both, moving, STILL, wavering } from "../sign.js";
import { type ExpressionSite, link } from "../site.js";
import { blurred, type ColumnFacts } from "../value.js";
import { truthOf, valueFor } from "./expression.js";
import { bind, conjuncts, filterRelation, minded, sidesOf } from "./filter.js";
import type { Truth } from "./truth.js";
import type { Walk } from "./walk.js";

type JoinPlan = Extract<LogicalPlan, { kind: "join" }>;

export function joinRelation(walk: Walk, plan: JoinPlan, outer: readonly Relation[]): Relation {
  const left = walk.at(plan.left, outer);
  const right = walk.at(plan.right, outer);
  const pair = sideBySide(left, right);
  if (plan.isTemporal) return temporalJoin(walk, plan, pair);
  const site = walk.site([pair, ...outer]);
  if (plan.join !== "inner") return outerJoin(site, plan, left, right, pair);
  // A pair is there as soon as both its rows are, and stays; so a join keeps the rows of both sides.
  walk.findings.meet(allScans(left), allScans(right));
  return plan.on === null ? pair : filterRelation(site, pair, plan.on);
}

/** A row meets what the table holds when it comes: which rows those are depends on the order in which both come. */
function temporalJoin(walk: Walk, plan: JoinPlan, pair: Relation): Relation {
  const scans = allScans(pair);
  walk.findings.meet(scans, scans);
  const text =
    plan.asOf === null
      ? "FOR SYSTEM_TIME AS OF: a row of the table that comes later is not met"
      : "FOR SYSTEM_TIME AS OF: a version that comes behind the watermark is not met";
  walk.findings.note(scans, text, plan.span, true);
  return {
    ...pair,
    columns: settledColumns(pair.columns),
    rows: wavering(settledRows(pair)),
    parts: meetIn(pair, [], walk.findings),
  };
}

/** The columns, rows and scans of both. */
export function sideBySide(left: Relation, right: Relation): Relation {
  const pair: Relation = {
    ...left,
    columns: [...left.columns, ...right.columns],
    rows: both(left.rows, right.rows),
    repetition: new Map([...left.repetition, ...right.repetition]),
    bound: [...left.bound, ...right.bound],
  };
  mergeInto(pair, right);
  pair.kept = new Set(allScans(pair));
  return pair;
}

/** A side of an outer join that may lack a match for the rows of the other one. */
interface OuterSide {
  readonly lacking: Relation;
  /** Its own rows are in the answer without a match, too: then rows that cannot match still play a part. */
  readonly preserved: boolean;
  /** The places of the columns of the lacking side. */
  readonly from: number;
  readonly to: number;
}

/**
 * A row of a preserved side without a match is given NULLs, and this is taken back when the match comes. The other side's
 * columns are NULL in rows from all its parts, so they do not tell them apart; the preserved side's columns that they are
 * compared with do, unless that side can be NULL, too.
 */
function outerJoin(
  site: ExpressionSite,
  plan: JoinPlan,
  left: Relation,
  right: Relation,
  pair: Relation,
): Relation {
  const { findings } = site;
  const width = left.columns.length;
  findings.meet(allScans(pair), allScans(pair));
  const truth: Truth = plan.on === null ? { moves: STILL, minds: new Set() } : truthOf(site, plan.on);
  const preserved = plan.join === "full";
  const sides: OuterSide[] = [];
  if (plan.join !== "right") sides.push({ lacking: right, preserved, from: width, to: pair.columns.length });
  if (plan.join !== "left") sides.push({ lacking: left, preserved, from: 0, to: width });
  const parts = new Map<number, RowParts>(pair.parts);
  for (const side of sides) {
    const text = `${plan.join.toUpperCase()} JOIN: a match that comes later takes back the row with NULLs`;
    findings.note(moving(side.lacking.rows), text, plan.on?.span ?? plan.span, true);
    const met = matched(site, pair, side, plan.on);
    for (const [scan, each] of meetIn({ ...pair, parts: side.lacking.parts }, met, findings))
      parts.set(scan, each);
  }
  const lacks = (i: number) => sides.some(({ from, to }) => i >= from && i < to);
  return {
    ...pair,
    columns: pair.columns.map((column, i) => (lacks(i) ? nullable(column) : column)),
    rows: both(pair.rows, ...sides.map(({ lacking }) => wavering(lacking.rows, truth.moves))),
    repetition: minded(pair, truth),
    parts,
  };
}

/** The columns of the lacking side that are compared with the preserved side, a constant, or a query around. */
function matched(
  site: ExpressionSite,
  pair: Relation,
  { lacking, preserved, from, to }: OuterSide,
  on: PlanExpression | null,
): ColumnFacts[] {
  const scans = new Set(allScans(lacking));
  const inside = (index: number) => index >= from && index < to;
  const met: ColumnFacts[] = [];
  for (const [mine, theirs] of on === null ? [] : conjuncts(on).flatMap(sidesOf)) {
    const value = valueFor(site, mine);
    const own = value.origins.filter(({ scan }) => scans.has(scan));
    if (mine.kind !== "column" || mine.depth !== 0 || !inside(mine.index)) continue;
    if (!preserved && valueFor(site, theirs).constant) fix(pair, own);
    if (!preserved && theirs.kind === "column" && theirs.depth > 0) bind(pair, own, theirs.depth);
    if (theirs.kind !== "column" || theirs.depth !== 0 || inside(theirs.index)) continue;
    link(site, theirs, own);
    met.push({ ...value, origins: own });
  }
  return met;
}

/** A column that may be NULL instead, in rows that have nothing to do with where it comes from. */
function nullable(column: ColumnFacts): ColumnFacts {
  return {
    ...column,
    constant: false,
    nulls: "any",
    lacks: true,
    moves: wavering(column.moves),
    origins: blurred(column, false),
  };
}
