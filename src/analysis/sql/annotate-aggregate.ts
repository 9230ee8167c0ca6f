import { valueFor } from "./annotate-expression.js";
import type { Aggregate, Plan } from "./plan.js";
import { absorbed, allScans, meetIn, type Relation } from "./relation.js";
import { both, type Signs, STILL, turned, wavering } from "./sign.js";
import type { Site } from "./site.js";
import { blurred, type Nulls, PLAIN, union, type Value } from "./value.js";

/**
 * A group is there as soon as its first row is, so the keys only grow; it is the aggregates that move, and whoever shows
 * them or compares them decides whether anybody can tell. Rows meet in their group: the keys are the parts.
 */
export function aggregateRelation(
  site: Site,
  input: Relation,
  plan: Extract<Plan, { kind: "aggregate" }>,
): Relation {
  const keys = plan.keys.map((key) => valueFor(site, key));
  for (const { origins } of keys) site.findings.equate(origins);
  site.findings.meet(allScans(input), allScans(input));
  const operands = plan.aggregates.map(({ operand }) => (operand === null ? null : valueFor(site, operand)));
  const aggregates = plan.aggregates.map((aggregate, i) =>
    aggregateValue(input, aggregate, operands[i] ?? null, plan.grouped),
  );
  // A group whose key moves goes, and another one comes.
  const movedKeys = wavering(...keys.map(({ moves }) => moves));
  site.findings.note([...movedKeys.keys()], "GROUP BY a value that changes", plan.span, true);
  return {
    ...input,
    columns: [
      ...keys.map((key): Value => ({ ...key, moves: STILL, nulls: "never" })),
      ...aggregates.map((value): Value => ({ ...value, moves: both(value.moves, movedKeys) })),
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

function aggregateValue(
  input: Relation,
  aggregate: Aggregate,
  operand: Value | null,
  grouped: boolean,
): Value {
  const { moves, nulls } = movement(input.rows, aggregate, operand);
  // What is counted twice counts; the largest of a row and its copy is the row.
  const counts = ["count", "sum", "avg"].includes(aggregate.name) && !aggregate.distinct;
  const minders = [...input.repetition]
    .filter(([, each]) => each === "minds" || (counts && each === "passes"))
    .map(([scan]) => scan);
  return {
    ...PLAIN,
    moves,
    nulls,
    lacks: aggregate.name !== "count" && (!grouped || operand?.lacks === true),
    nonNegative: aggregate.name === "count" || (operand?.nonNegative ?? false),
    type: ["count", "sum", "avg"].includes(aggregate.name) ? "number" : (operand?.type ?? null),
    minds: union(new Set(minders), operand?.minds ?? new Set()),
    origins: operand === null ? [] : blurred(operand, false),
    what: aggregate.span,
  };
}

/** How an aggregate moves when its rows and its operand do (Blazes, section III.D; lattices: its reference 34). */
function movement(
  rows: Signs,
  { name, distinct }: Aggregate,
  operand: Value | null,
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
  }
}

/** An operand that is NULL is passed over, which is harmless if NULL stands where it would never be chosen. */
function placed({ moves, nulls }: Value, place: Nulls): Signs {
  return nulls === "never" || nulls === place ? moves : wavering(moves);
}
