import { invariant } from "../../errors.js";
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
import { joint } from "./joint.js";
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
  /** The operators that the sides are pushed into. */
  readonly left: Operator;
  readonly right: Operator;

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
    const sides: readonly Side[] = ["left", "right"];
    const [left, right] = joint(2, {
      push: (batch, input) =>
        this.#pass(this.#probes[sides[input] ?? "left"](batch, this.#state, this.errors)),
      flush: () => {},
      watermark: () => {},
      end: () => this.#end(),
    });
    invariant(left !== undefined && right !== undefined, "a join has two sides");
    [this.left, this.right] = [left, right];
    const nothing = plan.right.columns.map(({ type }) => ({
      v: type === "text" || type === "json" ? '""' : "0",
      n: "true",
    }));
    this.#lone =
      plan.join === "inner"
        ? null
        : transform(plan.left.columns, after.steps, after.output, (_, row) => [...row, ...nothing]);
  }

  #end(): void {
    if (this.#lone !== null) this.#pass(this.#lone(this.#unmet(), this.errors));
    this.next.end();
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
