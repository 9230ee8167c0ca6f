import { HeadwaterError } from "../../errors.js";
import type { EngineCopies } from "../../host/cluster-side.js";
import type { Ref } from "../../model/refs.js";
import { Batch } from "../columns/index.js";
import type { PartitionStatus } from "../graph/index.js";
import { writerOf } from "../outputs/index.js";
import { inputsOf } from "../plan/index.js";
import { describeQuery, planBound, type QueryShape } from "../sql/index.js";
import type { NumberedRow, ResultRow } from "../typed/index.js";
import { answered, QUERY_LIMITS, type QueryAnswer, Turns } from "./ad-hoc.js";
import type { Graph } from "./contexts.js";
import type { Described } from "./describe.js";
import { positionsOf } from "./graph-reads.js";
import type { ViewRange } from "./options.js";
import { ReadGraph } from "./read-graph.js";
import {
  type Decimals,
  type FollowOptions,
  type NumberedLine,
  type ResultPage,
  ResultReader,
} from "./result-reader.js";
import { rowOfCells } from "./row-values.js";
import { encodedKeys, notSealedYet, type SealWait } from "./seals.js";
import { tablesOf } from "./tables.js";
import { boundOf } from "./view-bounds.js";

/** What can be read of the streams and queries of one tenant. */
export class TenantReads {
  readonly #graph: Ref<Graph>;
  readonly #turns = new Turns(QUERY_LIMITS);
  /** What is read in bulk: of a copy, if this process has one. */
  protected readonly reads: ReadGraph;
  protected readonly results: ResultReader;
  /** The numbers of the next rows, as the copy had them when its readers were woken last. */
  readonly #copied = new Map<string, number>();
  protected catalog = new Map<string, Described>();

  constructor(graph: Ref<Graph>, copies: EngineCopies | null) {
    this.#graph = graph;
    this.reads = new ReadGraph(graph, copies);
    this.results = new ResultReader(this.reads);
  }

  /** @internal The copy of this process has more than before, or is gone. */
  copied(): void {
    if (!this.results.areWaiting) return;
    const { copy } = this.reads;
    if (copy === null) return this.results.wake();
    const grown = positionsOf(copy).filter(([name, next]) => this.#copied.get(name) !== next);
    for (const [name, next] of grown) this.#copied.set(name, next);
    this.results.grown(grown.map(([name]) => name));
  }

  protected known(name: string): Described {
    const known = this.catalog.get(name);
    if (known !== undefined) return known;
    throw missing(name);
  }

  /** Rows from a number on, as they are now: one page. */
  page(name: string, from: number, options?: { readonly decimals?: Decimals }): Promise<ResultPage> {
    return this.results.page(name, from, options);
  }

  /** Rows from a number on, as they come, until the signal. By default the rows that come from now on. */
  follow(
    name: string,
    options?: FollowOptions & { readonly decimals?: Decimals },
  ): AsyncGenerator<readonly NumberedLine[]> {
    return this.results.follow(name, options);
  }

  /** The same as rows with the types of the stream. */
  subscribe<S extends string>(stream: S, options?: FollowOptions): AsyncGenerator<NumberedRow<ResultRow<S>>> {
    return this.results.subscribe(stream, options);
  }

  /** How far a partition of a stream is, by the values of the columns that name it. */
  async partition(stream: string, key: readonly unknown[]): Promise<PartitionStatus> {
    return await this.#graph.partition(stream, encodedKeys(this.known(stream), [key]));
  }

  /**
   * Resolves when a partition is sealed: what queries answer for it can be read then. Refused if it is not sealed within the time. For
   * a query that is given whole partitions, it is the partition of its input.
   */
  async sealed(name: string, key: readonly unknown[], { waitMs = 0, signal }: SealWait = {}): Promise<void> {
    const { sealedOn, sealedTogether, inputs } = this.known(name);
    const ended = AbortSignal.any([AbortSignal.timeout(waitMs), ...(signal === undefined ? [] : [signal])]);
    if (sealedTogether === null) {
      const [stream = name] = sealedOn === null ? [] : inputs;
      await this.#sealedIn(stream, key, waitMs, ended);
      return;
    }
    // Each stream names the partition by its own columns, in the order of its own seals.
    for (const [stream, columns] of Object.entries(sealedTogether)) {
      const own = this.known(stream).seals?.columns ?? [];
      const named = key.length === columns.length ? own.map((each) => key[columns.indexOf(each)]) : key;
      await this.#sealedIn(stream, named, waitMs, ended);
    }
  }

  async #sealedIn(stream: string, key: readonly unknown[], waitMs: number, ended: AbortSignal) {
    for (;;) {
      const growth = this.results.growth(stream, ended);
      try {
        const status = await this.partition(stream, key);
        // What all producers have finished without beginning it has no rows, and never will.
        const isNone = status.state === "not begun" && status.waitingFor.length === 0;
        if (status.state === "sealed" || isNone) return;
        if (ended.aborted || waitMs === 0) throw notSealedYet(stream, JSON.stringify(key), status);
        await growth.promise;
      } finally {
        growth.stop();
      }
    }
  }

  /** The rows of a table or a view by key: from one to another, both included; shorter bounds are prefixes. */
  async readView<S extends string>(
    name: S,
    { from = null, to = null, limit = 10_000 }: ViewRange = {},
  ): Promise<ResultRow<S>[]> {
    const { columns, rows } = await this.reads.view(name, from, to, limit);
    return rows.map((row) => rowOfCells(columns, row) as ResultRow<S>);
  }

  /** A table or a view by its key, as texts: see `readView`. Returns one JSON object per row. */
  async viewLines(
    name: string,
    {
      from,
      to,
      limit,
    }: { readonly from: readonly string[]; readonly to: readonly string[]; readonly limit: number },
  ): Promise<readonly string[]> {
    const { columns, key } = this.known(name);
    const range = { from: boundOf(from, columns, key), to: boundOf(to, columns, key) };
    const { rows } = await this.reads.view(name, range.from, range.to, limit);
    return writerOf("json", columns).lines(Batch.of(columns, rows));
  }

  /** What a query over tables and views answers with, and the parameters that it takes. */
  async describeQuery(sql: string): Promise<QueryShape> {
    return await describeQuery(sql, tablesOf(this.catalog));
  }

  /** Answers one SELECT over tables, views and the retained rows of streams, all as they are at one moment. */
  async query(sql: string, parameters: readonly (string | null)[] = []): Promise<QueryAnswer> {
    const { plan, shape } = await planBound(sql, tablesOf(this.catalog), parameters);
    return await this.#turns.take(async () => {
      const tables = await this.reads.snapshot(inputsOf(plan), QUERY_LIMITS.bytes);
      return { ...shape, schema: plan.columns, batches: await answered(plan, tables, QUERY_LIMITS) };
    });
  }
}

export function missing(name: string): HeadwaterError {
  return new HeadwaterError("HW-5401", `there is no stream or query ${JSON.stringify(name.slice(0, 80))}.`);
}
