import { type Batch, lasting, type Schema } from "../columns/index.js";
import { type StandingQuery, standingQuery } from "../operators/index.js";
import { writerOf } from "../outputs/index.js";
import type { InputSpec } from "../plan/index.js";
import type { QueryDefinition } from "./definition.js";
import type { CheckpointPart } from "./parts.js";

/** What one round has given. */
export interface RoundResults {
  readonly rows: readonly Batch[];
  /** The watermark of the results, if it was told in this round. */
  readonly reached: number | null;
  /** Rows that came too late, as JSON: they have the columns that they had where the query left them out. */
  readonly late: readonly string[];
  /** What rows were left out for, each message once, with all rows that the round left out. */
  readonly errors: readonly {
    readonly sqlState: string;
    readonly message: string;
    readonly rows: number;
  }[];
}

/** The operators of a query, fed in rounds: a whole query, or one partition of it. */
export class RunningQuery {
  readonly #query: StandingQuery;
  #waiting: { readonly input: string; readonly batch: Batch }[] = [];
  #watermarks = new Map<string, number>();
  #results: Batch[] = [];
  #reached: number | null = null;

  constructor(
    { plan, emit }: Pick<QueryDefinition, "plan" | "emit">,
    readonly inputs: Readonly<Record<string, InputSpec>>,
  ) {
    this.#query = standingQuery(
      plan,
      { emit, inputs },
      {
        rows: (batch) => {
          if (batch.rows > 0) this.#results.push(lasting(batch)); // more rows come before they are read
        },
        watermark: (timeMs) => {
          this.#reached = timeMs;
        },
      },
    );
  }

  get columns(): Schema {
    return this.#query.columns;
  }

  get isAppendOnly(): boolean {
    return this.#query.isAppendOnly;
  }

  get timeColumn(): number | null {
    return this.#query.timeColumn;
  }

  get memoryBytes(): number {
    return this.#query.memoryBytes;
  }

  push(input: string, batch: Batch): void {
    this.#waiting.push({ input, batch });
  }

  watermark(input: string, timeMs: number): void {
    this.#watermarks.set(input, timeMs);
  }

  get hasWork(): boolean {
    return this.#waiting.length > 0 || this.#watermarks.size > 0;
  }

  /** What waits, for another caller to run. */
  take(): {
    readonly waiting: readonly { readonly input: string; readonly batch: Batch }[];
    readonly watermarks: ReadonlyMap<string, number>;
  } {
    const [waiting, watermarks] = [this.#waiting, this.#watermarks];
    this.#waiting = [];
    this.#watermarks = new Map();
    return { waiting, watermarks };
  }

  /** One round: everything that waits goes through the query. */
  run(): RoundResults {
    for (const { input, batch } of this.#waiting) this.#query.push(input, batch);
    this.#waiting.length = 0;
    this.#query.flush();
    if (this.#watermarks.size > 0) {
      for (const [input, reached] of this.#watermarks) this.#query.watermark(input, reached);
      this.#watermarks.clear();
      this.#query.flush();
    }
    const [rows, reached] = [this.#results, this.#reached];
    this.#results = [];
    this.#reached = null;
    return { rows, reached, late: this.#takeLate(), errors: this.#takeErrors() };
  }

  /** The query counts anew in each round: its counts are in no checkpoint. */
  #takeLate(): string[] {
    const { late } = this.#query;
    if (late.count === 0) return [];
    late.count = 0;
    return late.take().flatMap((batch) => writerOf("json", batch.schema).lines(batch));
  }

  #takeErrors(): RoundResults["errors"] {
    const { errors } = this.#query;
    if (errors.count === 0) return [];
    const rows = errors.count;
    const taken = errors.sample.map(({ sqlState, message }) => ({ sqlState, message, rows }));
    errors.count = 0;
    errors.sample.length = 0;
    return taken;
  }

  *checkpoint(prefix: string): Generator<CheckpointPart> {
    for (const [name, bytes] of this.#query.checkpoint()) yield [`${prefix}${name}`, bytes];
  }

  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    this.#query.load(parts);
  }
}
