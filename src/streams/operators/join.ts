import {
  type Join as JoinPlan,
  type JoinState,
  joinKeys,
  type Probe,
  probe,
  type RowErrors,
  type Side,
  transform,
} from "../codegen/index.js";
import { Batch, type Schema } from "../columns/index.js";
import type { Step } from "../plan/index.js";
import { Bag, KeyedTable } from "../tables/index.js";
import type { Operator } from "./operator.js";

interface Stretch {
  readonly input: Schema;
  readonly steps: readonly Step[];
}

/**
 * A symmetric hash join of two inputs whose rows are never taken back. Both sides are kept, since a row of either may still
 * meet one of the other. Left rows that met none are known when both inputs have ended, and come then.
 */
export class Join {
  readonly #state: JoinState;
  readonly #probes: Readonly<Record<Side, Probe>>;
  readonly #lone: ReturnType<typeof transform> | null;
  #open = 2;

  constructor(
    readonly plan: JoinPlan,
    before: Readonly<Record<Side, Stretch>>,
    after: { readonly steps: readonly Step[]; readonly output: Schema },
    readonly errors: RowErrors,
    readonly next: Operator,
  ) {
    const keys = joinKeys(plan);
    this.#state = {
      keys: new KeyedTable(keys, keys.length - 2),
      left: new Bag(plan.left.columns),
      right: new Bag(plan.right.columns),
    };
    this.#probes = {
      left: probe(plan, "left", before.left, after),
      right: probe(plan, "right", before.right, after),
    };
    const nothing = plan.right.columns.map(({ type }) => ({
      v: type === "text" || type === "json" ? '""' : "0",
      n: "true",
    }));
    this.#lone =
      plan.join === "inner"
        ? null
        : transform(plan.left.columns, after.steps, after.output, (_, row) => [...row, ...nothing]);
  }

  /** The operator that one side is pushed into. */
  side(side: Side): Operator {
    return {
      push: (batch) => this.#pass(this.#probes[side](batch, this.#state, this.errors)),
      end: () => {
        this.#open--;
        if (this.#open > 0) return;
        if (this.#lone !== null) this.#pass(this.#lone(this.#unmet(), this.errors));
        this.next.end();
      },
    };
  }

  #unmet(): Batch {
    const { batch, met } = this.#state.left;
    const rows = Array.from({ length: batch.rows }, (_, row) => row).filter((row) => met[row] === 0);
    return Batch.of(
      batch.schema,
      rows.map((row) => batch.row(row)),
    );
  }

  #pass(batch: Batch): void {
    if (batch.rows > 0) this.next.push(batch);
  }
}
