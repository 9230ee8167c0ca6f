import type { ColumnTypes } from "../graph.js";
import { aggregateRelation } from "./annotate-aggregate.js";
import { type Truth, truthOf, valueFor } from "./annotate-expression.js";
import type { Plan, PlanExpression } from "./plan.js";
import {
  absorbed,
  allScans,
  type Findings,
  fix,
  meetIn,
  mergeInto,
  movingColumns,
  type Relation,
  repeated,
  settledColumns,
  settledRows,
} from "./relation.js";
import { both, moving, STILL, wavering } from "./sign.js";
import { link, type Site } from "./site.js";
import { commonType } from "./types.js";
import { addOrigins, blurred, nullsOf, type Origin, PLAIN, union, type Value } from "./value.js";

/** What is known of the tables beyond their columns. */
export interface Known {
  /** Columns without negative numbers, by table. */
  readonly nonNegative: Readonly<Record<string, readonly string[]>>;
  readonly types: Readonly<Record<string, ColumnTypes>>;
  /** The table whose rows are requests: each is answered on its own, so there is always one row, which stays. */
  readonly request: string | null;
}

/**
 * Walks a plan from its tables up and keeps what can be known of each operator's rows when rows are added to the tables
 * in any order (Blazes, section VII.B): whether they only grow, in which parts of a table rows meet, where each column
 * comes from, and what a row does that comes twice.
 */
export function relationOf(plan: Plan, text: string, known: Known, findings: Findings): Relation {
  const site = (stack: readonly Relation[]): Site => ({ text, findings, stack, relation: subquery });
  const subqueries = new Map<Plan, Relation>();
  return at(plan, []);

  /** A subquery may be asked for again by an expression around it; it is walked once. */
  function subquery(plan: Plan, outer: readonly Relation[]): Relation {
    const found = subqueries.get(plan) ?? at(plan, outer);
    subqueries.set(plan, found);
    return found;
  }

  function at(plan: Plan, outer: readonly Relation[]): Relation {
    switch (plan.kind) {
      case "unit":
        return empty();
      case "scan":
        return scan(plan);
      case "window":
        return window(plan, at(plan.input, outer));
      case "filter": {
        const input = at(plan.input, outer);
        return filtered(site([input, ...outer]), input, plan.predicate);
      }
      case "project":
        return projected(
          at(plan.input, outer),
          plan.outputs.map(({ expression }) => expression),
          outer,
        );
      case "join":
        return plan.join === "inner" ? joined(plan, outer) : leftJoined(plan, outer);
      case "aggregate": {
        const input = at(plan.input, outer);
        return aggregateRelation(site([input, ...outer]), input, plan);
      }
      case "distinct":
        return distinct(plan, at(plan.input, outer));
      case "union":
        return united(at(plan.left, outer), at(plan.right, outer));
      case "limit":
        return limited(plan, at(plan.input, outer));
    }
  }

  function scan({ scan, table, columns }: Extract<Plan, { kind: "scan" }>): Relation {
    findings.tableOf.set(scan, table);
    const isRequest = table === known.request;
    const nonNegative = known.nonNegative[table] ?? [];
    return {
      ...empty(),
      columns: columns.map((attribute) => ({
        ...PLAIN,
        nonNegative: nonNegative.includes(attribute),
        type: known.types[table]?.[attribute] ?? null,
        constant: isRequest,
        origins: [{ scan, attribute, computed: false, injective: true, orderPreserving: true }],
      })),
      rows: isRequest ? STILL : new Map([[scan, "grows"]]),
      repetition: new Map([[scan, "passes"]]),
      parts: new Map([[scan, null]]),
    };
  }

  /** Selecting asks each row by itself, so rows only come, unless a condition is about something that moves. */
  function filtered(site: Site, input: Relation, predicate: PlanExpression): Relation {
    const truth = truthOf(site, predicate);
    for (const each of conjuncts(predicate)) equate(site, input, each);
    return { ...input, rows: both(input.rows, truth.moves), repetition: minded(input, truth) };
  }

  function projected(
    input: Relation,
    expressions: readonly PlanExpression[],
    outer: readonly Relation[],
  ): Relation {
    const over = site([input, ...outer]);
    const values: Value[] = expressions.map(() => PLAIN);
    // Subqueries first: what they are compared with tells their parts apart, and may be another column here.
    const plain = (expression: PlanExpression) =>
      expression.kind === "column" || expression.kind === "constant";
    for (const [i, each] of expressions.entries()) if (!plain(each)) values[i] = valueFor(over, each);
    for (const [i, each] of expressions.entries()) if (plain(each)) values[i] = valueFor(over, each);
    return { ...input, columns: values };
  }

  /** TUMBLE and HOP give each row its windows whatever the others are. A session depends on the rows around it. */
  function window(plan: Extract<Plan, { kind: "window" }>, input: Relation): Relation {
    const time = input.columns[plan.time] ?? PLAIN;
    const ends = ["window_start", "window_end"].map((name): Value => {
      const words = `${name} of ${text.slice(plan.span.start, plan.span.end).replace(/\s+/g, " ")}`;
      const made = time.origins.flatMap((origin): Origin[] => {
        if (!origin.injective) return [];
        const { scan } = origin;
        const from = findings.bases(origin);
        const definition = JSON.stringify([
          origin.attribute,
          plan.window,
          plan.sizeMs,
          plan.slideMs,
          plan.keys,
        ]);
        const attribute = findings.name(name, words, definition);
        const grows = (each: Origin) =>
          each.scan === scan && each.attribute === from[0] && each.orderPreserving;
        const orderPreserving = from.length === 1 && time.origins.some(grows);
        findings.compute(scan, attribute, { from, orderPreserving });
        return [{ scan, attribute, computed: true, injective: true, orderPreserving: false }];
      });
      return addOrigins({ ...PLAIN, type: time.type, origins: made }, blurred(time, true));
    });
    const columns = [...input.columns, ...ends];
    if (plan.window !== "session") return { ...input, columns };
    const scans = allScans(input);
    findings.meet(scans, scans);
    findings.note(
      scans,
      "SESSION: a row that comes later can make one session of two, or a session longer",
      plan.span,
      true,
    );
    const keys = plan.keys.map((key) => input.columns[key] ?? PLAIN);
    return {
      ...input,
      columns: settledColumns(columns),
      rows: wavering(settledRows(input)),
      parts: meetIn(input, [...keys, ...ends], findings),
      repetition: repeated(input, keys, null),
      kept: new Set([...input.kept, ...scans]),
    };
  }

  /** A pair is there as soon as both its rows are, and stays; so a join keeps the rows of both sides. */
  function joined(plan: Extract<Plan, { kind: "join" }>, outer: readonly Relation[]): Relation {
    const left = at(plan.left, outer);
    const right = at(plan.right, outer);
    const pair = sideBySide(left, right);
    findings.meet(allScans(left), allScans(right));
    return plan.on === null ? pair : filtered(site([pair, ...outer]), pair, plan.on);
  }

  /**
   * A row of the left side without a match is given NULLs, and this is taken back when the match comes. The right side's
   * columns are NULL in rows from all its parts, so they do not tell them apart; the left side's columns that they are
   * compared with do.
   */
  function leftJoined(plan: Extract<Plan, { kind: "join" }>, outer: readonly Relation[]): Relation {
    const left = at(plan.left, outer);
    const right = at(plan.right, outer);
    const pair = sideBySide(left, right);
    findings.meet([...allScans(left), ...allScans(right)], allScans(right));
    const over = site([pair, ...outer]);
    const width = left.columns.length;
    const truth: Truth = plan.on === null ? { moves: STILL, minds: new Set() } : truthOf(over, plan.on);
    const inRight = new Set(allScans(right));
    const matched: Value[] = [];
    for (const each of plan.on === null ? [] : conjuncts(plan.on)) {
      for (const [mine, theirs] of sidesOf(each)) {
        const value = valueFor(over, mine);
        const own = value.origins.filter(({ scan }) => inRight.has(scan));
        if (mine.kind !== "column" || mine.depth !== 0 || mine.index < width) continue;
        if (valueFor(over, theirs).constant) fix(pair, own);
        if (theirs.kind === "column" && theirs.depth > 0) bind(pair, own, theirs.depth);
        if (theirs.kind !== "column" || theirs.depth !== 0 || theirs.index >= width) continue;
        link(over, theirs, own);
        matched.push({ ...value, origins: own });
      }
    }
    const scans = moving(right.rows);
    findings.note(
      scans,
      "LEFT JOIN: a match that comes later takes back the row with NULLs",
      plan.on?.span ?? plan.span,
      true,
    );
    const met = meetIn({ ...pair, parts: right.parts }, matched, findings);
    return {
      ...pair,
      columns: pair.columns.map((column, i) => (i < width ? column : nullable(column))),
      rows: both(left.rows, wavering(right.rows, truth.moves)),
      repetition: minded(pair, truth),
      parts: new Map([...pair.parts, ...met]),
    };
  }

  /** Equal rows become one, which is there as soon as the first of them is. */
  function distinct(plan: Plan, input: Relation): Relation {
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

  function united(left: Relation, right: Relation): Relation {
    const pair = sideBySide(left, right);
    const columns = left.columns.map((a, i): Value => {
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

  /** A row that is better than the n best so far pushes one of them out. All rows meet. */
  function limited(plan: Extract<Plan, { kind: "limit" }>, input: Relation): Relation {
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
}

function empty(): Relation {
  return {
    columns: [],
    rows: STILL,
    repetition: new Map(),
    parts: new Map(),
    fixed: new Map(),
    bound: [],
    kept: new Set(),
  };
}

function sideBySide(left: Relation, right: Relation): Relation {
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

/** The conditions that must all hold. */
function conjuncts(expression: PlanExpression): PlanExpression[] {
  return expression.kind === "operator" && expression.operator === "and"
    ? expression.operands.flatMap(conjuncts)
    : [expression];
}

/** Both ways to read an equality. */
function sidesOf(expression: PlanExpression): [PlanExpression, PlanExpression][] {
  if (expression.kind !== "operator" || expression.operator !== "=") return [];
  const [a, b] = expression.operands;
  return a === undefined || b === undefined
    ? []
    : [
        [a, b],
        [b, a],
      ];
}

/** Columns that must be equal have the same origins; one that must equal a constant has only one part that matters. */
function equate(site: Site, relation: Relation, condition: PlanExpression): void {
  for (const [mine, theirs] of sidesOf(condition)) {
    const value = valueFor(site, mine);
    const other = valueFor(site, theirs);
    if (mine.kind === "column" && mine.depth > 0) continue;
    if (theirs.kind === "parameter") site.findings.ask(value.origins, theirs.number);
    if (other.constant) fix(relation, value.origins);
    if (theirs.kind !== "column" || moving(other.moves).length > 0 || moving(value.moves).length > 0)
      continue;
    if (theirs.depth > 0) bind(relation, value.origins, theirs.depth);
    link(site, theirs, value.origins);
  }
}

function bind(relation: Relation, origins: readonly Origin[], depth: number): void {
  const exact = origins.filter(({ injective }) => injective);
  relation.bound = [...relation.bound, ...exact.map(({ scan, attribute }) => ({ scan, attribute, depth }))];
}

function minded(relation: Relation, { minds }: Truth) {
  return repeated(relation, [{ ...PLAIN, minds }], null);
}

/** A column that may be NULL instead, in rows that have nothing to do with where it comes from. */
function nullable(column: Value): Value {
  const { moves } = column;
  return {
    ...column,
    constant: false,
    nulls: "any",
    lacks: true,
    moves: wavering(moves),
    origins: blurred(column, false),
  };
}
