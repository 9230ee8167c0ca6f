import type { ColumnSpec } from "../columns/index.js";
import { mapInputs } from "./cut.js";
import type { Expression } from "./expression.js";
import { keptBy } from "./growth.js";
import type { Aggregate, Plan, StateRetention } from "./physical.js";
import { moved } from "./rewrite.js";
import { type EmitMode, type Inputs, traitsOf } from "./traits.js";

type Of<K extends Plan["kind"]> = Extract<Plan, { kind: K }>;

/** A plan whose rows carry a time, and where. */
interface TimedPlan {
  readonly plan: Plan;
  readonly retention: StateRetention;
}

/**
 * The same query with state that is forgotten after so long, wherever neither the watermark nor a table bounds it. Age is
 * counted by the event time that the rows of an operator carry; rows of a stream without event time get a column for the time of
 * their arrival, which the graph fills in. An operator whose rows carry no time is left as it is.
 *
 * - A join forgets rows: they meet nothing any more, and pairs that were given stay.
 * - A group whose latest row is too old leaves the result.
 * - OVER and LIMIT are about the rows that are not too old.
 */
export function withRetention(
  plan: Plan,
  inputs: Inputs,
  mode: EmitMode,
  ms: number,
): { readonly plan: Plan; readonly inputs: Inputs } {
  const timed = stamped(plan, inputs);
  const known = withArrivals(timed, inputs).inputs;
  const made = forgetting(timed, known, mode, ms);
  return made === timed ? { plan, inputs } : { plan: made, inputs: known };
}

/** The name of the column with the time of arrival, which no column of a user has. */
const ARRIVAL = "(arrival)";
const ARRIVAL_COLUMN: ColumnSpec = { name: ARRIVAL, type: "timestamp", nullable: false, scale: 0 };

function stamped(plan: Plan, inputs: Inputs): Plan {
  if (plan.kind !== "scan") return mapInputs(plan, (input) => stamped(input, inputs));
  const spec = Object.hasOwn(inputs, plan.table) ? inputs[plan.table] : undefined;
  if (spec?.kind !== "stream" || spec.timeColumn !== null) return plan;
  return selected({ ...plan, columns: [...plan.columns, ARRIVAL_COLUMN] }, [...plan.columns.keys()]);
}

/** The inputs of a plan, with a last column for the time of arrival where the plan reads one. */
export function withArrivals(
  plan: Plan,
  inputs: Inputs,
): { readonly inputs: Inputs; readonly stamped: ReadonlySet<string> } {
  const found = new Set<string>();
  const look = (part: Plan): Plan => {
    if (part.kind === "scan" && part.columns.at(-1)?.name === ARRIVAL) found.add(part.table);
    return mapInputs(part, look);
  };
  look(plan);
  const specs = Object.entries(inputs).map(([name, spec]): [string, Inputs[string]] => {
    if (!found.has(name) || spec.schema.at(-1)?.name === ARRIVAL) return [name, spec];
    return [name, { ...spec, schema: [...spec.schema, ARRIVAL_COLUMN], timeColumn: spec.schema.length }];
  });
  return { inputs: Object.fromEntries(specs), stamped: found };
}

function forgetting(plan: Plan, inputs: Inputs, mode: EmitMode, ms: number): Plan {
  const made = mapInputs(plan, (input) => forgetting(input, inputs, mode, ms));
  const isNeeded = (side?: "left" | "right") =>
    keptBy(made, inputs, mode).some(
      (kept) => kept.side === side && (kept.bound === "keys" || kept.bound === "nothing"),
    );
  const timed = (input: Plan): TimedPlan | null => timedPlan(input, inputs, mode, ms);
  switch (made.kind) {
    case "aggregate":
      return isNeeded() ? forgettingGroups(made, timed(made.input)) : made;
    case "over":
    case "sort":
      return isNeeded() ? forgettingRows(made, timed(made.input)) : made;
    case "join":
      if (made.asOf !== undefined) return made;
      return forgettingSides(made, {
        left: isNeeded("left") ? timed(made.left) : null,
        right: isNeeded("right") ? timed(made.right) : null,
      });
    default:
      return made;
  }
}

/** A plan whose rows carry a time: its own, or with one that a projection has left out. */
function timedPlan(plan: Plan, inputs: Inputs, mode: EmitMode, ms: number): TimedPlan | null {
  const bound = traitsOf(plan, inputs, mode).bounds.toSorted((a, b) => a.delayMs - b.delayMs)[0];
  if (bound !== undefined)
    return { plan, retention: { time: bound.index, ms: ms + Math.max(0, bound.delayMs) } };
  if (plan.kind !== "step") return null;
  const below = timedPlan(plan.input, inputs, mode, ms);
  if (below === null) return null;
  const { step } = plan;
  const { plan: input, retention } = below;
  const spec = input.columns[retention.time] ?? ARRIVAL_COLUMN;
  const last = { ...retention, time: plan.columns.length };
  if (step.kind === "project") {
    const outputs = [...step.outputs, columnOf(spec, retention.time)];
    const columns = [...plan.columns, spec];
    return { plan: { ...plan, input, step: { kind: "project", outputs }, columns }, retention: last };
  }
  // The bounds of a window stand behind the columns of its input: the time goes behind them.
  const width = plan.input.columns.length;
  const added = input.columns.length - width;
  const wide: Plan = { ...plan, input, columns: [...input.columns, ...plan.columns.slice(width)] };
  const places = [...plan.columns.keys()].map((index) => (index < width ? index : index + added));
  return { plan: selected(wide, [...places, retention.time]), retention: last };
}

function forgettingGroups(plan: Of<"aggregate">, timed: TimedPlan | null): Plan {
  if (timed === null) return plan;
  const { plan: input, retention } = timed;
  const spec = input.columns[retention.time] ?? ARRIVAL_COLUMN;
  const latest: Aggregate = {
    ...{ name: "latest", operand: columnOf(spec, retention.time), filter: null, distinct: false, list: null },
    ...{ type: "timestamp", scale: 0, nullable: true },
  };
  const wide: Plan = {
    ...plan,
    input,
    aggregates: [...plan.aggregates, latest],
    columns: [...plan.columns, { ...ARRIVAL_COLUMN, name: "", nullable: true }],
    retention: { ...retention, time: plan.aggregates.length },
  };
  return selected(wide, [...plan.columns.keys()]);
}

function forgettingRows(plan: Of<"over"> | Of<"sort">, timed: TimedPlan | null): Plan {
  if (timed === null) return plan;
  const { plan: input, retention } = timed;
  const width = plan.input.columns.length;
  const added = input.columns.length - width;
  const columns = [...input.columns, ...plan.columns.slice(width)];
  const wide: Plan = { ...plan, input, columns, retention };
  const places = [...plan.columns.keys()].map((index) => (index < width ? index : index + added));
  return added === 0 ? wide : selected(wide, places);
}

function forgettingSides(
  plan: Of<"join">,
  timed: Readonly<Record<"left" | "right", TimedPlan | null>>,
): Plan {
  if (timed.left === null && timed.right === null) return plan;
  const [left, right] = [timed.left?.plan ?? plan.left, timed.right?.plan ?? plan.right];
  const width = plan.left.columns.length;
  const added = left.columns.length - width;
  const place = (index: number) => (index < width ? index : index + added);
  const isLeftOnly = ["semi", "anti", "mark"].includes(plan.join);
  const own = plan.columns.slice(width);
  const more = (side: Plan, before: Plan) => side.columns.slice(before.columns.length);
  const columns = [
    ...plan.columns.slice(0, width),
    ...more(left, plan.left),
    ...own,
    ...(isLeftOnly ? [] : more(right, plan.right)),
  ];
  const wide: Plan = {
    ...plan,
    left,
    right,
    condition: plan.condition === null ? null : moved(plan.condition, place),
    columns: isOuter(plan.join)
      ? columns.map((spec) => (spec.name === ARRIVAL ? { ...spec, nullable: true } : spec))
      : columns,
    retention: { left: timed.left?.retention ?? null, right: timed.right?.retention ?? null },
  };
  if (columns.length === plan.columns.length) return wide;
  return selected(wide, [...plan.columns.keys()].map(place));
}

function isOuter(join: Of<"join">["join"]): boolean {
  return join === "left" || join === "right" || join === "full";
}

function columnOf({ type, nullable, scale }: ColumnSpec, index: number): Expression {
  return { kind: "column", index, type, nullable, scale };
}

/** The plan with these of its columns. */
function selected(input: Plan, indexes: readonly number[]): Plan {
  const columns = indexes.map((index) => input.columns[index] ?? ARRIVAL_COLUMN);
  const outputs = indexes.map((index, i) => columnOf(columns[i] ?? ARRIVAL_COLUMN, index));
  return { kind: "step", input, step: { kind: "project", outputs }, columns };
}
