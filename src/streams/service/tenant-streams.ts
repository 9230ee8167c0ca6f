import { HeadwaterError } from "../../errors.js";
import type { Ref } from "../../model/refs.js";
import { Batch, type Cell, decodeBatch, encodeBatch, type Schema } from "../columns/index.js";
import type { OutputOptions } from "../delivery/index.js";
import { NdjsonReader } from "../door/index.js";
import {
  type Command,
  type CommandOutcome,
  DEFAULT_RETENTION,
  encodeCommand,
  type StreamDefinition,
} from "../graph/index.js";
import { writerOf } from "../outputs/index.js";
import { inputsOf } from "../plan/index.js";
import type { SourceOptions } from "../sources/index.js";
import { describeQuery, planBound, planDefinition, type QueryShape } from "../sql/index.js";
import { answered, QUERY_LIMITS, type QueryAnswer, Turns } from "./ad-hoc.js";
import type { Tenant } from "./contexts.js";
import type { Described } from "./describe.js";
import { Gatherer, type Taken } from "./gatherer.js";
import { type OutputSurroundings, TenantOutputs } from "./outputs.js";
import type { Quotas } from "./quotas.js";
import { Rate } from "./rate.js";
import { explained, type QueryOptions, queryDefinition } from "./registration.js";
import { TenantSources } from "./sources.js";
import { tablesOf } from "./tables.js";
import { boundOf } from "./view-bounds.js";

const PAGE_BYTES = 1024 * 1024;
const TICK_MS = 1000;
const TICK_MS_MAX = 60_000;
const IDLE_MS = 30_000;

export interface PushOptions {
  readonly producer?: string;
  readonly sequence?: number;
  /** An Idempotency-Key: the same rows under the same key are taken once. */
  readonly key?: string;
}

/** A row of a stream, by its number. `weight` is -1 for a row that is taken back. */
export interface NumberedRow<R = Readonly<Record<string, unknown>>> {
  readonly number: number;
  readonly weight: number;
  readonly row: R;
}

/** The streams and queries of one tenant. */
export class TenantStreams {
  readonly #tenant: Ref<Tenant>;
  readonly #gatherer: Gatherer;
  readonly #rate: Rate;
  #quotas: Quotas;
  #catalog = new Map<string, Described>();
  #memoryBytes = 0;
  readonly #wakes = new Map<string, Set<() => void>>();
  readonly #turns = new Turns(QUERY_LIMITS);
  #tick: ReturnType<typeof setTimeout> | null = null;
  #tickMs = TICK_MS;
  #isClosed = false;
  readonly sources: TenantSources;
  readonly outputs: TenantOutputs;

  private constructor(
    readonly name: string,
    tenant: Ref<Tenant>,
    quotas: Quotas,
    { policy, warn, note }: OutputSurroundings,
  ) {
    const growth = (stream: string, signal: AbortSignal) => this.#growth(stream, signal);
    this.outputs = new TenantOutputs(tenant, name, policy, growth, warn, note);
    this.sources = new TenantSources(tenant, {
      ...{ policy, note, define: (sql) => this.define(sql), deregister: (stream) => this.deregister(stream) },
      schemaOf: (stream) => this.schemaOf(stream),
      admit: (rows) => this.#admit(rows),
      heard: (outcome) => void this.#heard(outcome),
    });
    this.#tenant = tenant;
    this.#quotas = quotas;
    this.#rate = new Rate(quotas.eventsPerSecond, Date.now());
    this.#gatherer = new Gatherer(async (record) => this.#heard(await tenant.graph.carryOut(record)));
  }

  /** @internal */
  static async open(name: string, tenant: Ref<Tenant>, around: OutputSurroundings): Promise<TenantStreams> {
    const streams = new TenantStreams(name, tenant, await tenant.allQuotas(), around);
    await streams.#refresh();
    streams.#arm();
    await streams.outputs.start();
    await streams.sources.start();
    return streams;
  }

  /** Defines a stream, a table or a materialized view by its SQL, or a query by a SELECT and its name. Returns its id. */
  async define(sql: string, options: QueryOptions & { readonly name?: string } = {}): Promise<string> {
    const defined = await planDefinition(sql, tablesOf(this.#catalog));
    if ("plan" in defined) {
      const name = options.name ?? defined.name ?? "";
      const definition = await queryDefinition(this.#catalog, sql, name, defined, options);
      return await this.#register({ kind: "define query", definition });
    }
    const retention = DEFAULT_RETENTION;
    const { name, columns, key, watermark } = defined;
    const placeOf = (wanted: string) => columns.findIndex((spec) => spec.name === wanted);
    const definition: StreamDefinition = {
      ...{ kind: defined.kind === "create table" ? "table" : "stream", name, columns, retention },
      key: key.map(placeOf),
      time:
        watermark === null
          ? null
          : { column: placeOf(watermark.column), latenessMs: watermark.latenessMs, idleMs: IDLE_MS },
      eventId: null,
    };
    return await this.#register({ kind: "define stream", definition });
  }

  async registerStream(definition: StreamDefinition): Promise<string> {
    return await this.#register({ kind: "define stream", definition });
  }

  async registerQuery(name: string, sql: string, options: QueryOptions = {}): Promise<string> {
    return await this.define(sql, { ...options, name });
  }

  /**
   * What is known of a query before it runs, for people: its operators and what they keep, its partitions, its label and its
   * coordination with the reason. `text` is `EXPLAIN SELECT …`, `EXPLAIN name`, or either without the first word.
   */
  async explain(text: string): Promise<string> {
    await this.#refresh();
    return await explained(this.#catalog, text);
  }

  /** Delivers the rows of a stream or a query to a target outside: see docs/outputs.md. Returns the output's name. */
  async registerOutput(
    stream: string,
    target: string,
    options: OutputOptions & { readonly name?: string } = {},
  ): Promise<string> {
    return await this.outputs.register(stream, target, options);
  }

  async deregisterOutput(name: string): Promise<void> {
    await this.outputs.deregister(name);
  }

  /** Takes rows from outside into a stream, from now on: see docs/sources.md. Returns the source's name. */
  async registerSource(stream: string, from: string, options: SourceOptions = {}): Promise<string> {
    return await this.sources.register(stream, from, options);
  }

  async deregisterSource(name: string): Promise<void> {
    await this.sources.deregister(name);
  }

  async deregister(name: string): Promise<void> {
    await this.#carryOut({ kind: "remove", name });
    await this.#refresh();
  }

  async seal(stream: string, producer: string, upTo: number | null = null): Promise<void> {
    await this.#carryOut({ kind: "seal", stream, producer, upTo });
  }

  list(): readonly Described[] {
    return [...this.#catalog.values()];
  }

  async describe(name: string): Promise<Described> {
    await this.#refresh();
    return this.#known(name);
  }

  schemaOf(name: string): Schema {
    return this.#known(name).columns;
  }

  /** Pushes rows. Refused at the first that does not fit, with its line; nothing is pushed then. */
  async pushEvents(
    stream: string,
    rows: readonly Readonly<Record<string, unknown>>[],
    options: PushOptions = {},
  ): Promise<Taken> {
    return await this.pushNdjson(
      stream,
      Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")),
      options,
    );
  }

  async pushNdjson(stream: string, bytes: Buffer, options: PushOptions = {}): Promise<Taken> {
    const { batch } = new NdjsonReader(this.#known(stream).columns).read(bytes, true);
    return await this.pushBatch(stream, batch, options);
  }

  async pushBatch(
    stream: string,
    batch: Batch,
    { producer, sequence, key }: PushOptions = {},
  ): Promise<Taken> {
    this.#admit(batch.rows);
    return await this.#gatherer.push({
      ...{ stream, producer: producer ?? "", sequence: sequence ?? null, key: key ?? null },
      batch: encodeBatch(batch),
    });
  }

  /** Refuses rows that are more than the tenant may push. */
  #admit(rows: number): void {
    if (!this.#rate.tryTake(rows, Date.now()))
      throw new HeadwaterError(
        "HW-5408",
        `the tenant may push ${this.#quotas.eventsPerSecond} events per second. Nothing was pushed.`,
      );
    if (this.#memoryBytes > this.#quotas.stateBytes)
      throw new HeadwaterError(
        "HW-5408",
        `the streams and queries of the tenant hold ${this.#memoryBytes} bytes, and may hold ${this.#quotas.stateBytes}. Nothing was pushed.`,
      );
  }

  /** Rows from a number on, as they are now: one page. */
  async page(name: string, from: number): Promise<{ readonly rows: NumberedLine[]; readonly next: number }> {
    const page = await this.#tenant.graph.rows(name, from, PAGE_BYTES);
    if (from < page.first)
      throw new HeadwaterError(
        "HW-5405",
        `rows of "${name}" before number ${page.first} are not retained any more, and number ${from} was asked for.`,
      );
    const rows: NumberedLine[] = [];
    for (const { first, bytes } of page.segments) {
      const batch = decodeBatch(Buffer.from(bytes), page.columns, Number.POSITIVE_INFINITY);
      for (const [i, json] of writerOf("json", page.columns).lines(batch).entries())
        if (first + i >= from) rows.push({ number: first + i, weight: batch.weight(i), json });
    }
    return { rows, next: rows.length === 0 ? from : (rows.at(-1)?.number ?? from) + 1 };
  }

  /** Rows from a number on, as they come, until the signal. By default the rows that come from now on. */
  async *follow(
    name: string,
    { from, signal }: { readonly from?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly NumberedLine[]> {
    let at = from ?? (await this.#tenant.graph.rows(name, Number.MAX_SAFE_INTEGER, 1)).next;
    let growth = this.#growth(name, signal);
    try {
      while (signal?.aborted !== true && !this.#isClosed) {
        const { rows, next } = await this.page(name, at);
        at = next;
        if (rows.length > 0) yield rows;
        else {
          await growth.promise;
          growth = this.#growth(name, signal); // before the next look: what comes between the two is heard of
        }
      }
    } finally {
      growth.stop();
    }
  }

  async *subscribe<R = Readonly<Record<string, unknown>>>(
    name: string,
    options: { readonly from?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<NumberedRow<R>> {
    for await (const lines of this.follow(name, options))
      for (const { number, weight, json } of lines) yield { number, weight, row: JSON.parse(json) as R };
  }

  /** The rows of a table or a view by key: from one to another, both included; shorter bounds are prefixes. */
  async readView(
    name: string,
    { from = null, to = null, limit = 10_000 }: ViewRange = {},
  ): Promise<Readonly<Record<string, unknown>>[]> {
    const { columns, rows } = await this.#tenant.graph.view(name, from, to, limit);
    const lines = writerOf("json", columns).lines(Batch.of(columns, rows));
    return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
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
    const { columns, key } = this.#known(name);
    const range = { from: boundOf(from, columns, key), to: boundOf(to, columns, key) };
    const { rows } = await this.#tenant.graph.view(name, range.from, range.to, limit);
    return writerOf("json", columns).lines(Batch.of(columns, rows));
  }

  /** What a query over tables and views answers with, and the parameters that it takes. */
  async describeQuery(sql: string): Promise<QueryShape> {
    return await describeQuery(sql, tablesOf(this.#catalog));
  }

  /** Answers one SELECT over tables, views and the retained rows of streams, all as they are at one moment. */
  async query(sql: string, parameters: readonly (string | null)[] = []): Promise<QueryAnswer> {
    const { plan, shape } = await planBound(sql, tablesOf(this.#catalog), parameters);
    return await this.#turns.take(async () => {
      const tables = await this.#tenant.graph.snapshot(inputsOf(plan), QUERY_LIMITS.bytes);
      return { ...shape, schema: plan.columns, batches: await answered(plan, tables, QUERY_LIMITS) };
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#tick !== null) clearTimeout(this.#tick);
    for (const wakes of this.#wakes.values()) for (const wake of wakes) wake();
    await this.sources.close();
    await this.outputs.close();
  }

  async setQuotas(quotas: Partial<Quotas>): Promise<void> {
    this.#quotas = await this.#tenant.setQuotas(quotas);
    this.#rate.perSecond = this.#quotas.eventsPerSecond;
  }

  #known(name: string): Described {
    const known = this.#catalog.get(name);
    if (known !== undefined) return known;
    throw new HeadwaterError("HW-5401", `there is no stream or query ${JSON.stringify(name.slice(0, 80))}.`);
  }

  async #register(command: Extract<Command, { kind: "define stream" | "define query" }>): Promise<string> {
    const what = command.kind === "define stream" ? "streams" : "queries";
    this.#heard(await this.#tenant.define(encodeCommand(command), what));
    await this.#refresh();
    return command.definition.name;
  }

  async #carryOut(command: Command): Promise<CommandOutcome> {
    return this.#heard(await this.#tenant.graph.carryOut(encodeCommand(command)));
  }

  /** Wakes subscribers that wait for rows. */
  #heard(outcome: CommandOutcome): CommandOutcome {
    if (outcome.refused !== null) throw new HeadwaterError(outcome.refused.code, outcome.refused.message);
    for (const [name] of outcome.grown) for (const wake of this.#wakes.get(name) ?? []) wake();
    if (outcome.answers.length > 0) this.#tickMs = TICK_MS;
    return outcome;
  }

  /** Resolves when the stream has got rows since the call, or when there is nothing to wait for any more. */
  #growth(name: string, signal: AbortSignal | undefined): { readonly promise: Promise<void>; stop(): void } {
    const wakes = this.#wakes.get(name) ?? new Set();
    this.#wakes.set(name, wakes);
    let stop = () => {};
    const promise = new Promise<void>((resolve) => {
      stop = () => {
        wakes.delete(stop);
        if (wakes.size === 0 && this.#wakes.get(name) === wakes) this.#wakes.delete(name);
        signal?.removeEventListener("abort", stop);
        resolve();
      };
    });
    wakes.add(stop);
    signal?.addEventListener("abort", stop, { once: true });
    return { promise, stop: () => stop() };
  }

  async #refresh(): Promise<void> {
    const [described, { memoryBytes }] = [
      await this.#tenant.graph.describe(),
      await this.#tenant.graph.size(),
    ];
    this.#catalog = new Map(described.map((each) => [each.name, each]));
    this.#memoryBytes = memoryBytes;
  }

  /** Ticks move idle streams' watermarks and drop what is too old; quiet graphs get fewer and fewer. */
  #arm(): void {
    this.#tick = setTimeout(() => {
      if (this.#isClosed) return;
      this.#tickMs = Math.min(2 * this.#tickMs, TICK_MS_MAX);
      const ticked = this.#catalog.size === 0 ? Promise.resolve() : this.#carryOut({ kind: "tick" });
      ticked
        .then(() => this.#refresh())
        .catch(() => {}) // the next tick does what this one did not
        .finally(() => {
          if (!this.#isClosed) this.#arm();
        });
    }, this.#tickMs).unref();
  }
}

export interface NumberedLine {
  readonly number: number;
  readonly weight: number;
  readonly json: string;
}

export interface ViewRange {
  readonly from?: readonly Cell[] | null;
  readonly to?: readonly Cell[] | null;
  readonly limit?: number;
}
