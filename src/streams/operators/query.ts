import type { RowErrors } from "../codegen/index.js";
import type { Batch, Schema } from "../columns/index.js";
import { type Plan, pruned } from "../plan/index.js";
import { assemble, unitRow } from "./assemble.js";
import type { Operator } from "./operator.js";
import { Site } from "./site.js";

/** A running query over tables that end: batches of its tables go in, batches of its results come out. */
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

/** Builds the operators of a plan; `consume` gets the results. */
export function startQuery(query: Plan, consume: (batch: Batch) => void): Query {
  const plan = pruned(query);
  const site = new Site("once", {});
  const consumer = new Results(plan, consume);
  const entries = assemble(plan, site, consumer);
  for (const { table, operator } of entries) if (table === null) operator.push(unitRow());
  return {
    columns: plan.columns,
    errors: site.errors,
    get isDone() {
      return consumer.isDone;
    },
    push(table, batch) {
      for (const entry of entries) if (entry.table === table) entry.operator.push(batch);
    },
    end() {
      for (const { operator } of entries) operator.end();
    },
  };
}

/** What the results of a one-shot query go to. It knows when a LIMIT without ORDER BY is reached. */
class Results implements Operator {
  #left: number;

  constructor(
    plan: Plan,
    readonly consume: (batch: Batch) => void,
  ) {
    const isCut = plan.kind === "sort" && plan.order.length === 0 && plan.limit !== null;
    this.#left = isCut ? plan.limit : Number.POSITIVE_INFINITY;
  }

  get isDone(): boolean {
    return this.#left <= 0;
  }

  push(batch: Batch): void {
    this.#left -= batch.rows;
    this.consume(batch);
  }

  flush(): void {}

  watermark(): void {}

  end(): void {}
}
