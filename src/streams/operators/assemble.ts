import { Batch, type Schema } from "../columns/index.js";
import type { Plan, RowStep } from "../plan/index.js";
import { FirstRows } from "./first-rows.js";
import { Grouping } from "./grouping.js";
import { Join } from "./join.js";
import { joint } from "./joint.js";
import { Limit } from "./limit.js";
import type { Operator } from "./operator.js";
import { Over } from "./over.js";
import { SessionWindows } from "./session.js";
import type { Site } from "./site.js";
import { Sort } from "./sort.js";
import { StandingSession } from "./standing-session.js";
import { Stateless } from "./stateless.js";
import { unweighted } from "./unweighted.js";
import { VersionedJoin } from "./versioned-join.js";

/** Where batches of a table go in. A table that a query mentions twice has two. */
export interface TableInput {
  /** `null` for the one row that a query without FROM has. */
  readonly table: string | null;
  readonly operator: Operator;
}

/** The row of a query without FROM. */
export function unitRow(): Batch {
  const batch = new Batch([], [], null);
  batch.rows = 1;
  return batch;
}

/** Builds the operators of a plan, from its consumer down to its scans. */
export function assemble(plan: Plan, site: Site, consumer: Operator): readonly TableInput[] {
  const entries: TableInput[] = [];
  build(plan, [], plan.columns, consumer);
  return entries;

  /** `steps` are what follows the plan before the next operator that keeps state, and `output` what they give. */
  function build(part: Plan, steps: readonly RowStep[], output: Schema, next: Operator): void {
    switch (part.kind) {
      case "unit":
        entries.push({ table: null, operator: passing(part.columns, steps, output, next) });
        return;
      case "scan":
        entries.push({ table: part.table, operator: passing(part.columns, steps, output, next) });
        return;
      case "step":
        build(part.input, [part.step, ...steps], output, next);
        return;
      case "aggregate": {
        const before = fused(part.input);
        const { input } = before;
        build(input, [], input.columns, new Grouping(part, before, { steps, output }, site, next));
        return;
      }
      case "join": {
        if (part.asOf !== undefined) {
          const join = new VersionedJoin(part, { steps, output }, site, next);
          build(part.left, [], part.left.columns, join.left);
          build(part.right, [], part.right.columns, join.right);
          return;
        }
        const [left, right] = [fused(part.left), fused(part.right)];
        const before = {
          left: { input: left.input.columns, steps: left.steps },
          right: { input: right.input.columns, steps: right.steps },
        };
        const join = new Join(part, before, { steps, output }, site, following(part, next));
        build(left.input, [], left.input.columns, join.left);
        build(right.input, [], right.input.columns, join.right);
        return;
      }
      case "union": {
        const inputs = joint(part.inputs.length, next, site.watermarks(part.inputs.length));
        for (const [i, operator] of inputs.entries()) {
          const input = part.inputs[i];
          if (input !== undefined) build(input, steps, output, operator);
        }
        return;
      }
      case "session": {
        const after = passing(part.columns, steps, output, next);
        const session =
          site.mode === "once" ? new SessionWindows(part, after) : new StandingSession(part, site, after);
        build(part.input, [], part.input.columns, session);
        return;
      }
      case "over": {
        const after = following(part, passing(part.columns, steps, output, next));
        const over = FirstRows.fits(part, site)
          ? new FirstRows(part, site, after)
          : new Over(part, site, after);
        build(part.input, [], part.input.columns, over);
        return;
      }
      case "sort": {
        if (site.mode !== "once") return build(standingSort(part), steps, output, next);
        const after = passing(part.columns, steps, output, next);
        const sort = part.order.length === 0 ? new Limit(part, after) : new Sort(part, after);
        build(part.input, [], part.input.columns, sort);
      }
    }
  }

  /** What follows an operator that may give equal rows as one with a weight. */
  function following(part: Plan, next: Operator): Operator {
    return site.mode !== "once" && site.traits(part).isAppendOnly ? unweighted(next) : next;
  }

  function passing(input: Schema, steps: readonly RowStep[], output: Schema, next: Operator): Operator {
    return steps.length === 0 ? next : new Stateless(input, steps, output, site.errors, next);
  }
}

/** Among changes there is no order to keep: ORDER BY decides which rows are within the limit. */
function standingSort(plan: Extract<Plan, { kind: "sort" }>): Plan {
  const { input, order, limit, offset, columns, retention } = plan;
  if (limit === null && offset === 0) return input;
  return {
    ...(retention === undefined ? {} : { retention }),
    kind: "over",
    input,
    keys: [],
    order,
    functions: [],
    cut: { by: "row_number", offset, limit },
    columns,
  };
}

/** The steps right before an operator become part of its own function. */
function fused(plan: Plan): { readonly input: Plan; readonly steps: readonly RowStep[] } {
  const steps: RowStep[] = [];
  let input = plan;
  for (; input.kind === "step"; input = input.input) steps.unshift(input.step);
  return { input, steps };
}
