import type { Batch, Schema } from "../columns/index.js";
import { lasting } from "../columns/index.js";
import { startQuery } from "../operators/index.js";
import type { InputSpec, Plan } from "../plan/index.js";
import type { QueryDefinition } from "./definition.js";
import { JointHold, type JointInput } from "./joint-hold.js";
import type { CheckpointPart } from "./parts.js";
import type { Holds, Released } from "./released.js";
import type { RoundResults } from "./running-query.js";

/** How many rows were left out, and why: see `NAME.errors`. */
type LeftOut = RoundResults["errors"][number];

/**
 * A query over sealed partitions: each round has whole ones, whose rows meet no others, so the round runs as a query over tables that
 * end. Its answers are final, and nothing is kept between rounds.
 */
export class SealedQuery {
  readonly #plan: Plan;
  readonly columns: Schema;
  /** What waits for the same partitions of other inputs. */
  readonly #joint: JointHold | null;
  #waiting: { readonly input: string; readonly batch: Batch }[] = [];
  #leftOut: LeftOut[] = [];

  constructor(
    { plan, sealedTogether }: Pick<QueryDefinition, "plan" | "sealedTogether">,
    readonly inputs: Readonly<Record<string, InputSpec>>,
    sealsOf: (stream: string) => readonly number[],
  ) {
    this.#plan = plan;
    this.#joint =
      sealedTogether === undefined ? null : new JointHold(jointInputs(sealedTogether, inputs, sealsOf));
    this.columns = startQuery(plan, () => {}).columns;
  }

  readonly isAppendOnly = true;
  /** Partitions are sealed in any order: its results follow no watermark. */
  readonly timeColumn = null;

  get memoryBytes(): number {
    return this.#joint?.memoryBytes ?? 0;
  }

  /** Rows come as whole partitions only. */
  push(): void {}

  release(input: string, released: Released, holds: Holds): void {
    const { rows } = released;
    if (this.#joint === null) {
      if (rows.rows > 0) this.#waiting.push({ input, batch: rows });
      return;
    }
    for (const each of this.#joint.take(input, released, holds))
      if ("batch" in each) this.#waiting.push(each);
      else this.#leftOut.push(leftOut(each.input, each.lateKey, each.rows));
  }

  /** It waits for seals, not for watermarks. */
  watermark(): void {}

  get hasWork(): boolean {
    return this.#waiting.length > 0 || this.#leftOut.length > 0;
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
    const all = [...this.#leftOut, ...errors];
    this.#leftOut = [];
    return { rows, reached: null, late: [], errors: all };
  }

  *checkpoint(prefix: string): Generator<CheckpointPart> {
    for (const [name, bytes] of this.#joint?.checkpoint() ?? []) yield [`${prefix}${name}`, bytes];
  }

  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    this.#joint?.load(new Map(parts));
  }
}

function jointInputs(
  together: Readonly<Record<string, readonly string[]>>,
  inputs: Readonly<Record<string, InputSpec>>,
  sealsOf: (stream: string) => readonly number[],
): Readonly<Record<string, JointInput>> {
  return Object.fromEntries(
    Object.entries(together).map(([name, columns]): [string, JointInput] => {
      const schema = inputs[name]?.schema ?? [];
      const places = columns.map((each) => schema.findIndex((spec) => spec.name === each));
      return [name, { schema, sealed: sealsOf(name), columns: places }];
    }),
  );
}

function leftOut(input: string, key: string, rows: number): LeftOut {
  const shown = key.length > 200 ? `${key.slice(0, 200)}…` : key;
  const message = `the partition ${shown} of "${input}" was sealed when that of another input had been answered without it`;
  return { sqlState: "02000", message, rows };
}
