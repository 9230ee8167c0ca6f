import { expiryOf } from "./join-time.js";
import type { Aggregate, Plan } from "./physical.js";
import { type EmitMode, type Inputs, traitsOf } from "./traits.js";

/**
 * What keeps the rows that an operator holds from growing without end.
 *
 * - `fixed`: they are one, or the first n.
 * - `watermark`: they are freed when the watermark has passed what they belong to.
 * - `retention`: they are forgotten when they are so old.
 * - `table`: there are no more than the tables below have rows.
 * - `keys`: there is one for each value of a key that came, or the first n of each.
 * - `nothing`: there is one for each row that came.
 */
export type StateBound = "fixed" | "watermark" | "retention" | "table" | "keys" | "nothing";

const BOUNDS: readonly StateBound[] = ["fixed", "watermark", "retention", "table", "keys", "nothing"];

/** A part of the state of an operator: what is kept there, and what bounds it. */
export interface KeptState {
  readonly what: string;
  readonly bound: StateBound;
  /** Whether rows that are kept for their values stay as long as their group does. */
  readonly isHistory: boolean;
  readonly side?: "left" | "right";
}

/** What an operator of a standing query keeps between rounds. */
export function keptBy(plan: Plan, inputs: Inputs, mode: EmitMode): readonly KeptState[] {
  const rowsOf = (input: Plan) => liveRows(input, inputs, mode);
  const isBound = () => traitsOf(plan, inputs, mode).bounds.length > 0;
  const kept = (what: string, bound: StateBound, isHistory = false): KeptState => ({
    what,
    bound,
    isHistory,
  });
  switch (plan.kind) {
    case "aggregate": {
      const groups = isBound()
        ? "watermark"
        : plan.retention !== undefined
          ? "retention"
          : groupsOf(plan, rowsOf);
      const retracts = !traitsOf(plan.input, inputs, mode).isAppendOnly;
      const own = plan.keys.length === 0 ? [] : [kept("a row for each group", groups)];
      const values = plan.aggregates.filter(keepsRows);
      const distinct = plan.aggregates.filter((each) => keepsValues(each, retracts));
      const below = rowsOf(plan.input);
      const names = (all: readonly Aggregate[]) =>
        [...new Set(all.map(({ name }) => `${name}()`))].join(", ");
      if (values.length > 0)
        own.push(kept(`all values of ${names(values)}`, groups === "watermark" ? groups : below, true));
      if (distinct.length > 0)
        own.push(
          kept(
            `the distinct values of ${names(distinct)}`,
            groups === "watermark" ? groups : atMostKeys(below),
          ),
        );
      return own;
    }
    case "join": {
      const traits = {
        left: traitsOf(plan.left, inputs, mode),
        right: traitsOf(plan.right, inputs, mode),
      };
      const side = (each: "left" | "right"): KeptState => {
        const isFreed = !plan.isTemporal && expiryOf(plan, each, traits) !== null;
        const isForgotten = plan.retention?.[each] != null;
        const bound = isFreed ? "watermark" : isForgotten ? "retention" : rowsOf(plan[each]);
        return { ...kept(`the rows of the ${each} side`, bound), side: each };
      };
      if (plan.asOf !== undefined)
        return [
          { ...kept("the rows of the left side that wait", "watermark"), side: "left" },
          { ...kept("the versions of each key", atMostKeys(rowsOf(plan.right))), side: "right" },
        ];
      return plan.isTemporal ? [side("right")] : [side("left"), side("right")];
    }
    case "over":
    case "sort": {
      const cut = plan.kind === "sort" ? { by: "row_number", limit: plan.limit } : plan.cut;
      if (plan.kind === "sort" && plan.limit === null && plan.offset === 0) return [];
      if (isBound()) return [kept("the rows of each partition", "watermark")];
      if (plan.retention !== undefined) return [kept("the rows of each partition", "retention")];
      const isGrowing = traitsOf(plan.input, inputs, mode).isAppendOnly;
      const below = rowsOf(plan.input);
      if (!isGrowing || cut?.by !== "row_number" || cut.limit === null)
        return [kept("the rows of each partition", below)];
      const keys = plan.kind === "sort" ? [] : plan.keys;
      return keys.length === 0
        ? [kept("the first rows", "fixed")]
        : [kept("the first rows of each partition", atMostKeys(below))];
    }
    case "session":
      return [kept("the rows of open sessions", isBound() ? "watermark" : rowsOf(plan.input))];
    default:
      return [];
  }
}

/** Lists are made of all their values; equal ones are kept once, with their number, which DISTINCT bounds by how many there are. */
function keepsRows({ distinct, list }: Aggregate): boolean {
  return list !== null && !distinct;
}

/** The least and the greatest are found again among all values where they can be taken back. */
function keepsValues({ name, distinct }: Aggregate, retracts: boolean): boolean {
  return distinct || (retracts && (name === "min" || name === "max"));
}

function groupsOf(
  { keys, input }: Extract<Plan, { kind: "aggregate" }>,
  rowsOf: (input: Plan) => StateBound,
): StateBound {
  return keys.length === 0 ? "fixed" : atMostKeys(rowsOf(input));
}

function atMostKeys(rows: StateBound): StateBound {
  return rows === "nothing" ? "keys" : rows;
}

/** How many rows a plan has given and not taken back: an operator behind it may have to keep so many. */
function liveRows(plan: Plan, inputs: Inputs, mode: EmitMode): StateBound {
  const again = (input: Plan) => liveRows(input, inputs, mode);
  switch (plan.kind) {
    case "scan": {
      const input = Object.hasOwn(inputs, plan.table) ? inputs[plan.table] : undefined;
      return input === undefined || input.kind === "stream" ? "nothing" : "table";
    }
    case "unit":
      return "fixed";
    case "step":
    case "session":
      return again(plan.input);
    case "aggregate":
      // Groups that the watermark frees stay in the result, and new ones come for ever.
      if (traitsOf(plan, inputs, mode).bounds.length > 0) return again(plan.input);
      return plan.retention !== undefined ? "retention" : groupsOf(plan, again);
    case "union":
      return worst(plan.inputs.map(again));
    case "join": {
      const isLeftOnly = plan.isTemporal || ["semi", "anti", "mark"].includes(plan.join);
      return isLeftOnly ? again(plan.left) : worst([again(plan.left), again(plan.right)]);
    }
    case "over":
      if (traitsOf(plan, inputs, mode).bounds.length > 0) return again(plan.input);
      if (plan.retention !== undefined) return "retention";
      if (plan.cut === null || plan.cut.limit === null) return again(plan.input);
      return plan.keys.length === 0 ? "fixed" : atMostKeys(again(plan.input));
    case "sort":
      if (plan.limit !== null) return "fixed";
      return plan.retention !== undefined ? "retention" : again(plan.input);
  }
}

function worst(all: readonly StateBound[]): StateBound {
  return all.reduce<StateBound>((a, b) => (BOUNDS.indexOf(b) > BOUNDS.indexOf(a) ? b : a), "fixed");
}
