import type { Batch, Schema } from "../columns/index.js";
import { lasting } from "../columns/index.js";
import { startQuery } from "../operators/index.js";
import type { InputSpec, Plan } from "../plan/index.js";
import type { CheckpointPart } from "./parts.js";
import type { RoundResults } from "./running-query.js";

/**
 * A query over sealed partitions: each round has whole ones, whose rows meet no others, so the round runs as a query over tables that
 * end. Its answers are final, and nothing is kept between rounds.
 */
export class SealedQuery {
  readonly #plan: Plan;
  readonly columns: Schema;
  #waiting: { readonly input: string; readonly batch: Batch }[] = [];

  constructor(
    { plan }: { readonly plan: Plan },
    readonly inputs: Readonly<Record<string, InputSpec>>,
  ) {
    this.#plan = plan;
    this.columns = startQuery(plan, () => {}).columns;
  }

  readonly isAppendOnly = true;
  /** Partitions are sealed in any order: its results follow no watermark. */
  readonly timeColumn = null;
  readonly memoryBytes = 0;

  push(input: string, batch: Batch): void {
    this.#waiting.push({ input, batch });
  }

  /** It waits for seals, not for watermarks. */
  watermark(): void {}

  get hasWork(): boolean {
    return this.#waiting.length > 0;
  }

  take() {
    const waiting = this.#waiting;
    this.#waiting = [];
    return { waiting, watermarks: new Map<string, number>() };
  }

  run(): RoundResults {
    const rows: Batch[] = [];
    const query = startQuery(this.#plan, (batch) => {
      if (batch.rows > 0) rows.push(lasting(batch));
    });
    for (const { input, batch } of this.take().waiting) query.push(input, batch);
    query.end();
    const { sample, count } = query.errors;
    const errors = sample.map(({ sqlState, message }) => ({ sqlState, message, rows: count }));
    return { rows, reached: null, late: [], errors };
  }

  *checkpoint(): Generator<CheckpointPart> {}

  load(): void {}
}
