import { HeadwaterError } from "../../errors.js";
import { Batch, column, lasting, type Schema } from "../columns/index.js";
import { type StandingQuery, standingQuery } from "../operators/index.js";
import { writerOf } from "../outputs/index.js";
import type { InputSpec } from "../plan/index.js";
import { type Refused, refusedBy } from "./answers.js";
import { Channel } from "./channel.js";
import type { QueryDefinition } from "./definition.js";
import { KeyedRows } from "./keyed-rows.js";
import type { GraphMoment } from "./moment.js";
import { type CheckpointPart, named, type OwnParts, partsBelow } from "./parts.js";

/** Rows that came too late, as JSON: they have the columns that they had where the query left them out. */
const LATE_COLUMNS: Schema = [column("row", "json", false)];
/** What a row was left out for, once for each round and message, with all rows that the round left out. */
const ERROR_COLUMNS: Schema = [
  column("sql_state", "text", false),
  column("message", "text", false),
  column("rows", "int", false),
];

const QUERY_PARTS = "query/";
const SIDE_BYTES = 1024 * 1024;

/** A standing query in a graph, with its output stream and the streams of rows that it left out. */
export class QueryNode {
  readonly out: Channel;
  readonly late: Channel;
  readonly errors: Channel;
  readonly #query: StandingQuery;
  #waiting: { readonly input: string; readonly batch: Batch }[] = [];
  #watermarks = new Map<string, number>();
  #results: Batch[] = [];
  #reached: number | null = null;

  constructor(
    readonly definition: QueryDefinition,
    inputs: Readonly<Record<string, InputSpec>>,
    first: (name: string) => number,
  ) {
    const { name, plan, emit, retention, kind, key } = definition;
    this.#query = standingQuery(
      plan,
      { emit, inputs },
      {
        rows: (batch) => {
          if (batch.rows > 0) this.#results.push(lasting(batch));
        },
        watermark: (timeMs) => {
          this.#reached = timeMs;
        },
      },
    );
    const rows = kind === "view" ? new KeyedRows(this.#query.columns, key) : null;
    const side = { bytes: SIDE_BYTES, ms: retention.ms };
    this.out = new Channel(name, this.#query.columns, retention, rows, first(name));
    this.late = new Channel(`${name}.late`, LATE_COLUMNS, side, null, first(`${name}.late`));
    this.errors = new Channel(`${name}.errors`, ERROR_COLUMNS, side, null, first(`${name}.errors`));
  }

  get channels(): readonly Channel[] {
    return [this.out, this.late, this.errors];
  }

  get isAppendOnly(): boolean {
    return this.#query.isAppendOnly;
  }

  get memoryBytes(): number {
    return this.channels.reduce((sum, { memoryBytes }) => sum + memoryBytes, this.#query.memoryBytes);
  }

  /** What a query that reads this one is told of it. */
  get spec(): InputSpec {
    const { columns, timeColumn, isAppendOnly } = this.#query;
    const key = this.definition.kind === "view" ? (this.definition.key ?? []) : [];
    return { schema: columns, timeColumn, kind: isAppendOnly ? "stream" : "changelog", key };
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

  /** One round: everything that waits goes through the query. Returns its results, for the queries that read it. */
  run(moment: GraphMoment): { readonly results: readonly Batch[]; readonly isAdvanced: boolean } {
    const [waiting, watermarks] = [this.#waiting, this.#watermarks];
    this.#waiting = [];
    this.#watermarks = new Map();
    for (const { input, batch } of waiting) this.#query.push(input, batch);
    this.#query.flush();
    for (const [input, reached] of watermarks) this.#query.watermark(input, reached);
    if (watermarks.size > 0) this.#query.flush();
    const results = this.#results;
    this.#results = [];
    if (moment.isQuiet !== true) for (const batch of results) this.out.append(batch, moment);
    if (results.length > 0) this.out.rows?.take(results);
    this.#leftOut(moment);
    return { results, isAdvanced: this.out.advance(this.#reached) };
  }

  /** What the round has left out goes into streams of its own, and the query counts anew: its counts are in no checkpoint. */
  #leftOut(moment: GraphMoment): void {
    const { late, errors } = this.#query;
    if (late.count > 0) {
      const rows = late.take().flatMap((batch) =>
        writerOf("json", batch.schema)
          .lines(batch)
          .map((line) => [line]),
      );
      if (rows.length > 0) this.late.append(Batch.of(LATE_COLUMNS, rows), moment);
      late.count = 0;
    }
    if (errors.count === 0) return;
    const rows = errors.sample.map(({ sqlState, message }) => [sqlState, message, errors.count]);
    this.errors.append(Batch.of(ERROR_COLUMNS, rows), moment);
    errors.count = 0;
    errors.sample.length = 0;
  }

  *checkpoint(): Generator<CheckpointPart> {
    yield* this.out.checkpoint();
    yield* named("late", this.late.checkpoint());
    yield* named("errors", this.errors.checkpoint());
    for (const [name, bytes] of this.#query.checkpoint()) yield [`${QUERY_PARTS}${name}`, bytes];
  }

  load(parts: OwnParts): void {
    this.out.load(parts);
    this.late.load(new Map(partsBelow(parts, "late|")));
    this.errors.load(new Map(partsBelow(parts, "errors|")));
    this.#query.load(partsBelow(parts, QUERY_PARTS));
    this.#reached = this.out.watermark;
  }
}

/** Builds a query, or says why it cannot stand. */
export function queryNode(...given: ConstructorParameters<typeof QueryNode>): QueryNode | Refused {
  try {
    return new QueryNode(...given);
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    return refusedBy(error);
  }
}
