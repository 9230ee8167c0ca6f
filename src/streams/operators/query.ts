import { RowErrors } from "../codegen/index.js";
import type { Batch, Schema } from "../columns/index.js";
import { type Plan, pruned, type Step } from "../plan/index.js";
import { Grouping } from "./grouping.js";
import { Join } from "./join.js";
import { Limit } from "./limit.js";
import type { Operator } from "./operator.js";
import { Session } from "./session.js";
import { Sort } from "./sort.js";
import { Stateless } from "./stateless.js";

/** A running query: batches of its tables go in, batches of its results come out. */
export interface Query {
  /** The columns of the results. */
  readonly columns: Schema;
  /** Rows that were left out because an expression refused them. */
  readonly errors: RowErrors;
  push(table: string, batch: Batch): void;
  /** Nothing that could still come would change the results. */
  readonly isDone: boolean;
  /** The input is complete: what waited for that comes out. */
  end(): void;
}

/** Builds the operators of a plan. `schemas` are the columns of its tables, and `consume` gets the results. */
export function startQuery(query: Plan, consume: (batch: Batch) => void): Query {
  const plan = pruned(query);
  const errors = new RowErrors();
  const inputs: { readonly table: string; readonly operator: Operator }[] = [];
  let first: Limit | null = null;
  build(plan, [], plan.columns, { push: consume, end: () => {} });
  return {
    columns: plan.columns,
    errors,
    get isDone() {
      return first?.isDone === true;
    },
    push(table, batch) {
      for (const input of inputs) if (input.table === table) input.operator.push(batch);
    },
    end() {
      for (const { operator } of inputs) operator.end();
    },
  };

  /** `steps` are what follows the plan before the next operator that keeps state, and `output` what they give. */
  function build(part: Plan, steps: readonly Step[], output: Schema, next: Operator): void {
    switch (part.kind) {
      case "scan":
        inputs.push({ table: part.table, operator: passing(part.columns, steps, output, next) });
        return;
      case "step":
        build(part.input, [part.step, ...steps], output, next);
        return;
      case "aggregate": {
        const { input, steps: before } = fused(part.input);
        build(
          input,
          [],
          input.columns,
          new Grouping(part, { input: input.columns, steps: before }, { steps, output }, errors, next),
        );
        return;
      }
      case "join": {
        const [left, right] = [fused(part.left), fused(part.right)];
        const before = {
          left: { input: left.input.columns, steps: left.steps },
          right: { input: right.input.columns, steps: right.steps },
        };
        const join = new Join(part, before, { steps, output }, errors, next);
        build(left.input, [], left.input.columns, join.side("left"));
        build(right.input, [], right.input.columns, join.side("right"));
        return;
      }
      case "union": {
        const shared = joint(part.inputs.length, next);
        for (const input of part.inputs) build(input, steps, output, shared);
        return;
      }
      case "session":
        build(
          part.input,
          [],
          part.input.columns,
          new Session(part, passing(part.columns, steps, output, next)),
        );
        return;
      case "sort": {
        const after = passing(part.columns, steps, output, next);
        const limit = part.order.length === 0 ? new Limit(part, after) : null;
        if (part === plan) first = limit;
        build(part.input, [], part.input.columns, limit ?? new Sort(part, after));
      }
    }
  }

  function passing(input: Schema, steps: readonly Step[], output: Schema, next: Operator): Operator {
    return steps.length === 0 ? next : new Stateless(input, steps, output, errors, next);
  }
}

/** The steps right before an operator become part of its own function. */
function fused(plan: Plan): { readonly input: Plan; readonly steps: readonly Step[] } {
  const steps: Step[] = [];
  let input = plan;
  for (; input.kind === "step"; input = input.input) steps.unshift(input.step);
  return { input, steps };
}

/** Several operators that push into one; it ends with the last of them. */
function joint(count: number, next: Operator): Operator {
  let open = count;
  return {
    push: (batch) => next.push(batch),
    end: () => {
      open--;
      if (open === 0) next.end();
    },
  };
}
