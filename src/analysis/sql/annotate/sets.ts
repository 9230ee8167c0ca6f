import type { LogicalPlan } from "../../../sql/index.js";
import { commonType } from "../column-types.js";
import {
  absorbed,
  allScans,
  meetIn,
  movingColumns,
  type QueryFindings,
  type Relation,
  repeated,
  settledColumns,
  settledRows,
} from "../relation.js";
import { both, turned, wavering } from "../sign.js";
import { addOrigins, type ColumnFacts, nullsOf, PLAIN, union } from "../value.js";
import { sideBySide } from "./join.js";

/** Equal rows become one, which is there as soon as the first of them is. */
export function distinctRelation(findings: QueryFindings, plan: LogicalPlan, input: Relation): Relation {
  const scans = allScans(input);
  findings.meet(scans, scans);
  for (const { origins } of input.columns) findings.equate(origins);
  for (const { scans: moved, what } of movingColumns(input))
    findings.note(moved, "DISTINCT over a value that changes", what ?? plan.span, true);
  return {
    ...input,
    columns: settledColumns(input.columns),
    rows: settledRows(input),
    repetition: absorbed(input, input.columns),
    parts: meetIn(input, input.columns, findings),
    kept: new Set([...input.kept, ...scans]),
  };
}

/** A row that comes before the first one so far takes its place. Rows meet that agree in the keys. */
export function distinctOnRelation(
  findings: QueryFindings,
  plan: Extract<LogicalPlan, { kind: "distinct on" }>,
  input: Relation,
): Relation {
  const scans = allScans(input);
  const keys = plan.keys.map((key) => input.columns[key] ?? PLAIN);
  findings.meet(scans, scans);
  for (const { origins } of keys) findings.equate(origins);
  findings.note(scans, "DISTINCT ON: a row that comes later can be before the first one", plan.span, true);
  return {
    ...input,
    columns: settledColumns(input.columns),
    rows: wavering(settledRows(input)),
    repetition: absorbed(input, input.columns),
    parts: meetIn(input, keys, findings),
    kept: new Set([...input.kept, ...scans]),
  };
}

/** UNION ALL: the rows of both. */
export function unionRelation(left: Relation, right: Relation): Relation {
  const pair = sideBySide(left, right);
  const columns = left.columns.map((a, i): ColumnFacts => {
    const b = right.columns[i] ?? PLAIN;
    return {
      moves: both(a.moves, b.moves),
      nulls: nullsOf(a.nulls, b.nulls),
      nonNegative: a.nonNegative && b.nonNegative,
      lacks: a.lacks || b.lacks,
      type: commonType([a, b]),
      minds: union(a.minds, b.minds),
      origins: [...a.origins, ...b.origins],
      constant: false,
      what: a.what ?? b.what,
    };
  });
  return { ...pair, columns, kept: union(left.kept, right.kept) };
}

/**
 * INTERSECT is a join in all columns and only grows. EXCEPT is an antijoin in all columns: a row on the right takes one on the
 * left back. Rows meet that are equal, so every column tells them apart.
 */
export function combinationRelation(
  findings: QueryFindings,
  plan: Extract<LogicalPlan, { kind: "set operation" }>,
  left: Relation,
  right: Relation,
): Relation {
  const { operation, all, span } = plan;
  const pair = sideBySide(left, right);
  const scans = allScans(pair);
  const columns = left.columns.map((column, i) => addOrigins(column, right.columns[i]?.origins ?? []));
  findings.meet(scans, scans);
  for (const { origins } of columns) findings.equate(origins);
  const excepts = operation === "except";
  if (excepts)
    findings.note(allScans(right), "EXCEPT: a row that comes later on the right takes one back", span, true);
  const [own, others] = [settledRows(left), settledRows(right)];
  // How often a row is there on each side counts for EXCEPT ALL; INTERSECT ALL only gives more copies.
  const compared = [...left.columns, ...right.columns];
  const repetition = all ? repeated(pair, compared, excepts ? "minds" : null) : absorbed(pair, compared);
  return {
    ...pair,
    columns: settledColumns(columns),
    rows: both(own, excepts ? turned(others) : others),
    repetition,
    parts: meetIn(pair, columns, findings),
    kept: new Set(scans),
  };
}

/** A row that is better than the n best so far pushes one of them out. All rows meet. */
export function limitRelation(
  findings: QueryFindings,
  plan: Extract<LogicalPlan, { kind: "limit" }>,
  input: Relation,
): Relation {
  const scans = allScans(input);
  findings.meet(scans, scans);
  findings.note(scans, "LIMIT: a row that comes later can push another one out", plan.span, true);
  return {
    ...input,
    columns: settledColumns(input.columns),
    rows: wavering(settledRows(input)),
    repetition: repeated(input, input.columns, "minds"),
    parts: meetIn(input, [], findings),
    kept: new Set([...input.kept, ...scans]),
  };
}
