import { HeadwaterError } from "../../errors.js";
import { Batch, column, type Schema } from "../columns/index.js";
import { type InputSpec, partitioningOf } from "../plan/index.js";
import { type Refused, refusedBy } from "./answers.js";
import { Arrivals } from "./arrivals.js";
import { Channel } from "./channel.js";
import type { QueryDefinition } from "./definition.js";
import { KeyedRows } from "./keyed-rows.js";
import type { GraphMoment } from "./moment.js";
import { type CheckpointPart, jsonOf, jsonPart, named, type OwnParts, partsBelow } from "./parts.js";
import type { Holds, Released } from "./released.js";
import { encodeRound, joinedResults } from "./round.js";
import { type RoundResults, RunningQuery } from "./running-query.js";
import { SealedQuery } from "./sealed-query.js";

const LATE_COLUMNS: Schema = [column("row", "json", false)];
const ERROR_COLUMNS: Schema = [
  column("sql_state", "text", false),
  column("message", "text", false),
  column("rows", "int", false),
];

const QUERY_PARTS = "query/";
const ARRIVED = "arrived";
const SIDE_BYTES = 1024 * 1024;

/** What a round has given to the queries that read this one. */
interface Given {
  readonly results: readonly Batch[];
  readonly isAdvanced: boolean;
}

/**
 * A standing query in a graph, with its output stream and the streams of rows that it left out. One that is divided does not run
 * here: `takeDispatched` says what each of its partitions is given, and `gather` takes what they have made of it.
 */
export class QueryNode {
  readonly out: Channel;
  readonly late: Channel;
  readonly errors: Channel;
  readonly #running: RunningQuery | SealedQuery;
  readonly #arrivals: Arrivals;
  readonly #dividedBy: Readonly<Record<string, readonly number[]>> | null;
  #dispatched: (readonly Uint8Array[])[] = [];

  constructor(
    readonly definition: QueryDefinition,
    inputs: Readonly<Record<string, InputSpec>>,
    first: (name: string) => number,
    sealsOf: (stream: string) => readonly number[] = () => [],
  ) {
    const { name, plan, retention, kind, key } = definition;
    this.#arrivals = new Arrivals(plan, inputs);
    const { inputs: known } = this.#arrivals;
    this.#running = this.isSealed
      ? new SealedQuery(definition, known, sealsOf)
      : new RunningQuery(definition, known);
    const divided = this.isDivided ? partitioningOf(plan) : null;
    this.#dividedBy = divided?.kind === "by" ? divided.columns : null;
    const rows = kind === "view" ? new KeyedRows(this.#running.columns, key) : null;
    const side = { bytes: SIDE_BYTES, ms: retention.ms };
    this.out = new Channel(name, this.#running.columns, retention, rows, first(name));
    this.late = new Channel(`${name}.late`, LATE_COLUMNS, side, null, first(`${name}.late`));
    this.errors = new Channel(`${name}.errors`, ERROR_COLUMNS, side, null, first(`${name}.errors`));
  }

  get channels(): readonly Channel[] {
    return [this.out, this.late, this.errors];
  }

  get isDivided(): boolean {
    return this.definition.partitions > 1;
  }

  /** It is given whole partitions, when they are sealed. */
  get isSealed(): boolean {
    return this.definition.sealedOn !== undefined;
  }

  get isAppendOnly(): boolean {
    return this.#running.isAppendOnly;
  }

  get memoryBytes(): number {
    return this.channels.reduce((sum, { memoryBytes }) => sum + memoryBytes, this.#running.memoryBytes);
  }

  /** What it was told of its inputs. */
  get inputs(): Readonly<Record<string, InputSpec>> {
    return this.#running.inputs;
  }

  /** What a query that reads this one is told of it. */
  get spec(): InputSpec {
    const { columns, timeColumn, isAppendOnly } = this.#running;
    const key = this.definition.kind === "view" ? (this.definition.key ?? []) : [];
    return { schema: columns, timeColumn, kind: isAppendOnly ? "stream" : "changelog", key };
  }

  push(input: string, batch: Batch, timeMs: number): void {
    this.tick(timeMs);
    this.#running.push(input, this.#arrivals.stamp(input, batch));
  }

  /** Partitions of an input that are complete. A query that does not wait for them has had their rows. */
  release(input: string, released: Released, holds: Holds, timeMs: number): void {
    if (!(this.#running instanceof SealedQuery)) return;
    this.tick(timeMs);
    const rows = this.#arrivals.stamp(input, released.rows);
    this.#running.release(input, { ...released, rows }, holds);
  }

  /** The time of an event: what a query counts by the arrival of rows may get too old by it. */
  tick(timeMs: number): void {
    if (!this.#arrivals.advance(timeMs)) return;
    for (const input of this.#arrivals.names) this.#running.watermark(input, timeMs);
  }

  watermark(input: string, timeMs: number): void {
    this.#running.watermark(input, timeMs);
  }

  get hasWork(): boolean {
    return this.#running.hasWork;
  }

  /**
   * One round: everything that waits goes through the query. Returns its results, for the queries that read it. A query that is
   * divided has none yet: its round waits to be dispatched.
   */
  run(moment: GraphMoment): Given {
    if (!this.isDivided) return this.#keep(this.#running.run(), moment);
    this.#dispatched.push(encodeRound(this.#running.take(), this.#dividedBy, this.definition.partitions));
    return { results: [], isAdvanced: false };
  }

  /** The rounds that its partitions have to run, with what each partition is given. */
  takeDispatched(): readonly (readonly Uint8Array[])[] {
    const taken = this.#dispatched;
    this.#dispatched = [];
    return taken;
  }

  /** The results of a round that was dispatched, one for each partition. */
  gather(results: readonly Uint8Array[], moment: GraphMoment): Given {
    return this.#keep(joinedResults(results, this.#running.columns), moment);
  }

  #keep({ rows, reached, late, errors }: RoundResults, moment: GraphMoment): Given {
    if (moment.isQuiet !== true) for (const batch of rows) this.out.append(batch, moment);
    if (rows.length > 0) this.out.rows?.take(rows);
    if (late.length > 0)
      this.late.append(
        Batch.of(
          LATE_COLUMNS,
          late.map((line) => [line]),
        ),
        moment,
      );
    if (errors.length > 0) {
      const cells = errors.map(({ sqlState, message, rows: count }) => [sqlState, message, count]);
      this.errors.append(Batch.of(ERROR_COLUMNS, cells), moment);
    }
    return { results: rows, isAdvanced: this.out.advance(reached) };
  }

  *checkpoint(): Generator<CheckpointPart> {
    yield* this.out.checkpoint();
    yield* named("late", this.late.checkpoint());
    yield* named("errors", this.errors.checkpoint());
    yield* this.#running.checkpoint(QUERY_PARTS);
    if (this.#arrivals.timeMs !== null) yield [ARRIVED, jsonPart(this.#arrivals.timeMs)];
  }

  load(parts: OwnParts): void {
    this.out.load(parts);
    this.late.load(new Map(partsBelow(parts, "late|")));
    this.errors.load(new Map(partsBelow(parts, "errors|")));
    this.#running.load(partsBelow(parts, QUERY_PARTS));
    this.#arrivals.timeMs = jsonOf<number>(parts.get(ARRIVED));
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
