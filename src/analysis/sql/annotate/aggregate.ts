import type { AggregateCall, LogicalPlan } from "../../../sql/index.js";
import { absorbed, allScans, meetIn, type Relation } from "../relation.js";
import { both, type Signs, STILL, turned, wavering } from "../sign.js";
import type { ExpressionSite } from "../site.js";
import { blurred, type ColumnFacts, type Nulls, PLAIN, union } from "../value.js";
import { truthOf, valueFor } from "./expression.js";
import type { Truth } from "./truth.js";

/**
 * A group is there as soon as its first row is, so the keys only grow; it is the aggregates that move, and a query that shows
 * them or compares them decides whether anybody can tell. Rows meet in their group: the keys are the parts.
 */
export function aggregateRelation(
  site: ExpressionSite,
  input: Relation,
  plan: Extract<LogicalPlan, { kind: "aggregate" }>,
): Relation {
  const keys = plan.keys.map((key) => valueFor(site, key));
  for (const { origins } of keys) site.findings.equate(origins);
  site.findings.meet(allScans(input), allScans(input));
  const aggregates = plan.aggregates.map((each) => aggregateValue(site, input, each, plan.grouped));
  // A group whose key moves goes, and another one comes.
  const movedKeys = wavering(...keys.map(({ moves }) => moves));
  site.findings.note([...movedKeys.keys()], "GROUP BY a value that changes", plan.span, true);
  return {
    ...input,
    columns: [
      ...keys.map((key): ColumnFacts => ({ ...key, moves: STILL, nulls: "never" })),
      ...aggregates.map((value): ColumnFacts => ({ ...value, moves: both(value.moves, movedKeys) })),
    ],
    // Without GROUP BY there is one row, always.
    rows: plan.grouped ? both(input.rows, movedKeys) : STILL,
    repetition: plan.grouped
      ? absorbed(input, keys)
      : new Map(allScans(input).map((scan) => [scan, "absorbs"])),
    parts: meetIn(input, keys, site.findings),
    kept: new Set([...input.kept, ...allScans(input)]),
  };
}

const COUNTING: ReadonlySet<string> = new Set(["count", "sum", "avg", "string_agg", "array_agg"]);

function aggregateValue(
  site: ExpressionSite,
  input: Relation,
  aggregate: AggregateCall,
  grouped: boolean,
): ColumnFacts {
  const { name, distinct, filter, order, span } = aggregate;
  const values = aggregate.operands.map((each) => valueFor(site, each));
  const sorting = order.map(({ expression }) => valueFor(site, expression));
  const chosen: Truth = filter === null ? { moves: STILL, minds: new Set() } : truthOf(site, filter);
  const [operand = null] = values;
  // With FILTER, a row comes when its condition comes true, and goes when it does not hold any more.
  const rows = both(input.rows, chosen.moves);
  const { moves, nulls } = movement(rows, aggregate, operand, [...values, ...sorting]);
  // What is counted twice counts; the largest of a row and its copy is the row.
  const counts = COUNTING.has(name) && !distinct;
  const minders = [...input.repetition]
    .filter(([, each]) => each === "minds" || (counts && each === "passes"))
    .map(([scan]) => scan);
  const numeric = ["count", "sum", "avg"].includes(name);
  return {
    ...PLAIN,
    moves,
    nulls,
    lacks: name !== "count" && (!grouped || filter !== null || operand?.lacks === true),
    nonNegative: name === "count" || (operand?.nonNegative ?? false),
    type: numeric ? "number" : name === "string_agg" ? "text" : (operand?.type ?? null),
    minds: union(new Set(minders), chosen.minds, ...[...values, ...sorting].map(({ minds }) => minds)),
    origins: operand === null ? [] : blurred(operand, false),
    what: span,
  };
}

/** How an aggregate moves when its rows and its operand do (Blazes, section III.D; lattices: its reference 34). */
function movement(
  rows: Signs,
  { name, distinct }: AggregateCall,
  operand: ColumnFacts | null,
  all: readonly ColumnFacts[],
): { moves: Signs; nulls: Nulls } {
  const own = operand ?? PLAIN;
  switch (name) {
    case "count":
      // Whether an operand that moves is NULL, or equal to another one, can change.
      return { moves: both(rows, wavering(own.moves)), nulls: "never" };
    case "sum":
      return own.nonNegative && !(distinct && own.moves.size > 0)
        ? { moves: both(rows, placed(own, "low")), nulls: "low" }
        : { moves: wavering(rows, own.moves), nulls: "any" };
    case "max":
    case "bool_or":
      return { moves: both(rows, placed(own, "low")), nulls: "low" };
    case "min":
    case "bool_and":
      return { moves: both(turned(rows), placed(own, "high")), nulls: "high" };
    case "avg":
      return { moves: wavering(rows, own.moves), nulls: "any" };
    case "string_agg":
    case "array_agg":
    case "user":
      return { moves: wavering(rows, ...all.map(({ moves }) => moves)), nulls: "any" };
  }
}

/** An operand that is NULL is passed over, which is harmless if NULL stands where it would never be chosen. */
function placed({ moves, nulls }: ColumnFacts, place: Nulls): Signs {
  return nulls === "never" || nulls === place ? moves : wavering(moves);
}
