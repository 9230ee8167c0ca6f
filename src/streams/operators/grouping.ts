import {
  type Groups,
  groupRow,
  type RowErrors,
  specOf,
  stateColumns,
  transform,
  type Update,
  updateGroups,
} from "../codegen/index.js";
import { Batch, column, type Schema } from "../columns/index.js";
import type { Plan, Step } from "../plan/index.js";
import { KeyedTable } from "../tables/index.js";
import type { Operator } from "./operator.js";

/**
 * GROUP BY and DISTINCT, of rows that are never taken back. The state is a table with a row per group. When the input
 * ends, the table itself is the input of what follows: its columns are read as a batch, and HAVING and the projection behind
 * it are fused into that one pass.
 */
export class Grouping implements Operator {
  readonly #update: Update;
  readonly #result: ReturnType<typeof transform>;
  readonly #groups: Groups;

  constructor(
    plan: Extract<Plan, { kind: "aggregate" }>,
    before: { readonly input: Schema; readonly steps: readonly Step[] },
    after: { readonly steps: readonly Step[]; readonly output: Schema },
    readonly errors: RowErrors,
    readonly next: Operator,
  ) {
    const { keys, aggregates } = plan;
    const state = stateColumns(keys, aggregates);
    this.#update = updateGroups(before.input, before.steps, keys, aggregates, state);
    this.#result = transform(state.schema, after.steps, after.output, (code, row) =>
      groupRow(code, aggregates, state, row),
    );
    this.#groups = {
      table: new KeyedTable(state.schema, state.keyCount),
      seen: aggregates.map(({ distinct, operand }) =>
        distinct && operand !== null
          ? new KeyedTable(
              [column("group", "int", false), specOf("value", { ...operand, nullable: false })],
              2,
            )
          : null,
      ),
    };
    // Without keys there is one group, whether rows come or not.
    if (keys.length === 0) this.#groups.table.put(state.schema.map(({ nullable }) => (nullable ? null : 0)));
  }

  push(batch: Batch): void {
    this.#update(batch, this.#groups, this.errors);
  }

  flush(): void {}

  watermark(): void {}

  end(): void {
    const { table } = this.#groups;
    const groups = new Batch(table.schema, table.columns, null);
    groups.rows = table.rows;
    const made = this.#result(groups, this.errors);
    if (made.rows > 0) this.next.push(made);
    this.next.end();
  }
}
