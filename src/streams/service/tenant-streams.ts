import { HeadwaterError } from "../../errors.js";
import type { Ref } from "../../model/refs.js";
import type { Batch, Schema } from "../columns/index.js";
import type { OutputOptions } from "../delivery/index.js";
import { cellsOfRows, NdjsonReader } from "../door/index.js";
import {
  type Command,
  type CommandOutcome,
  encodeCommand,
  type QueryDefinition,
  type StreamDefinition,
} from "../graph/index.js";
import type { SourceOptions } from "../sources/index.js";
import type {
  AnyRow,
  PushedRow,
  PushReceipt,
  RowToPush,
  StreamColumns,
  StreamId,
  StreamRow,
} from "../typed/index.js";
import { Allowance } from "./allowance.js";
import { Coalesced } from "./coalesced.js";
import type { Tenant } from "./contexts.js";
import {
  checkColumns,
  checkRetention,
  type StreamSettings,
  sqlDefinition,
  streamDefinition,
} from "./definitions.js";
import type { Described } from "./describe.js";
import { sentBy } from "./exports.js";
import { Gatherer } from "./gatherer.js";
import { type GraphStream, Labels } from "./labelled.js";
import type { PushOptions } from "./options.js";
import type { OtherTenants, SharedStream, TenantSurroundings } from "./other-tenants.js";
import { TenantOutputs } from "./outputs.js";
import type { Quotas } from "./quotas.js";
import { explained, type QueryOptions } from "./registration.js";
import { countOf, type GivenRows, rowsToPush } from "./rows-to-push.js";
import { ownerOf, type SharedWith } from "./shares.js";
import { TenantSources } from "./sources.js";
import { missing, TenantReads } from "./tenant-reads.js";
import { Ticks } from "./ticks.js";

/** The streams and queries of one tenant. */
export class TenantStreams extends TenantReads {
  readonly #tenant: Ref<Tenant>;
  readonly #others: OtherTenants;
  readonly #announce: TenantSurroundings["announce"];
  readonly #gatherer: Gatherer;
  readonly #allowance: Allowance;
  readonly #seen = new Map<string, number>();
  readonly #looks = new Coalesced(() => this.look());
  readonly #labels = new Labels();
  /** In a cluster: whether this process moves time on for the tenant. */
  #isWorking = false;
  readonly #note: () => Promise<unknown>;
  readonly #ticks = new Ticks(() => this.#tick());

  readonly sources: TenantSources;
  /** Where rows go by themselves: web servers, TCP ports, files, NATS. */
  readonly outputs: TenantOutputs;

  private constructor(
    readonly name: string,
    tenant: Ref<Tenant>,
    quotas: Quotas,
    { policy, warn, note, others, announce, turns, memory, copies }: TenantSurroundings,
  ) {
    super(tenant.graph, copies);
    this.#others = others;
    this.#allowance = new Allowance(this, memory, quotas);
    this.#announce = announce;
    const growth = (stream: string, signal: AbortSignal) => this.results.growth(stream, signal);
    this.outputs = new TenantOutputs(tenant, name, policy, growth, warn, note);
    this.sources = new TenantSources(tenant, {
      ...{ policy, note, define: (sql) => this.define(sql), deregister: (stream) => this.deregister(stream) },
      schemaOf: (stream) => this.schemaOf(stream),
      admit: (rows) => this.#allowance.admit(rows),
      heard: (outcome) => void this.#heard(outcome),
    });
    this.#note = note;
    this.#tenant = tenant;
    const carryOut = async (record: Uint8Array) => {
      const outcome = await tenant.graph.carryOut(record);
      this.#heard(outcome);
      return outcome;
    };
    this.#gatherer = new Gatherer(carryOut, quotas.cpuShare, turns.tenant());
  }

  /** @internal */
  static async open(name: string, tenant: Ref<Tenant>, around: TenantSurroundings): Promise<TenantStreams> {
    const streams = new TenantStreams(name, tenant, await tenant.allQuotas(), around);
    await streams.#refresh();
    return streams;
  }

  /** @internal In a cluster, one process moves time on, delivers outputs and reads sources: this one, from now on. */
  async work(): Promise<void> {
    this.#isWorking = true;
    this.#ticks.start();
    await this.outputs.start();
    await this.sources.start();
  }

  /** @internal Another process does. */
  async rest(): Promise<void> {
    this.#isWorking = false;
    this.#allowance.forget();
    this.#ticks.stop();
    await this.sources.close();
    await this.outputs.close();
  }

  /** @internal Another process has changed more than rows. */
  async reload(): Promise<void> {
    this.#useQuotas(await this.#tenant.allQuotas());
    await this.#refresh();
    await this.outputs.sync();
    await this.sources.sync();
    await this.look();
  }

  /** @internal Another process has pushed rows, perhaps. If this one has a copy, that will have them. */
  pushed(): void {
    if (this.results.areWaiting && this.reads.copy === null) this.#looks.run().catch(() => {}); // the service is closing
  }

  /** Registers a stream, or a table if it has a key. Returns its id, which knows the types of its rows. */
  async registerStream<const C extends StreamColumns>(
    name: string,
    columns: C,
    options: StreamSettings = {},
  ): Promise<StreamId<StreamRow<C>, RowToPush<C>>> {
    return await this.#register(streamDefinition(name, columns, options));
  }

  /** Registers a standing query. Returns the id of its output stream, typed if `columns` says which it has. */
  async registerQuery<const C extends StreamColumns = never>(
    name: string,
    sql: string,
    options: QueryOptions & { readonly columns?: C } = {},
  ): Promise<StreamId<[C] extends [never] ? AnyRow : StreamRow<C>>> {
    return await this.define(sql, { ...options, name });
  }

  /** Registers a stream, a table or a materialized view by its SQL, or a query by a SELECT and its name. Returns its id. */
  async define<R = AnyRow, P = AnyRow>(
    sql: string,
    options: QueryOptions & { readonly name?: string } = {},
  ): Promise<StreamId<R, P>> {
    const readable = await this.#others.readable(this.name, this.catalog);
    const definition = await sqlDefinition(sql, options.name ?? null, readable, options);
    const id = await this.#registerReading<R, P>(definition);
    try {
      if (options.columns !== undefined)
        checkColumns(definition.name, this.known(definition.name).columns, options.columns);
    } catch (error) {
      await this.deregister(id);
      throw error;
    }
    return id;
  }

  /**
   * What is known of a query before it runs, for people: its operators and what they keep, its partitions, its label and its
   * coordination with the reason. `text` is `EXPLAIN SELECT …`, `EXPLAIN name`, or either without the first word.
   */
  async explain(text: string): Promise<string> {
    await this.#refresh();
    return await explained(this.catalog, text);
  }

  /** Delivers the rows of a stream or a query to a target outside: see docs/outputs.md. Returns the output's name. */
  async registerOutput(
    stream: string,
    target: string,
    options: OutputOptions & { readonly name?: string } = {},
  ): Promise<string> {
    return await this.outputs.register(stream, target, options);
  }

  deregisterOutput(name: string): Promise<void> {
    return this.outputs.deregister(name);
  }

  /** Takes rows from outside into a stream, from now on: see docs/sources.md. Returns the source's name. */
  async registerSource(stream: string, from: string, options: SourceOptions = {}): Promise<string> {
    return await this.sources.register(stream, from, options);
  }

  async deregisterSource(name: string): Promise<void> {
    await this.sources.deregister(name);
  }

  /** Removes a stream or a query. Refused with the list of users if it is in use. */
  async deregister(name: string): Promise<void> {
    const inputs = this.known(name).inputs;
    if (ownerOf(name) !== null) throw missing(name);
    await this.#others.unshare(this.name, name);
    await this.#carryOut({ kind: "remove", name });
    await this.#others.releaseAll(inputs, this.name);
    await this.#refresh();
    await this.#announce("remove");
  }

  /** Lets other tenants read a stream, a table, a view or a query: in their queries it is `TENANT.NAME`. */
  async share(name: string, shared: SharedWith): Promise<void> {
    this.known(name);
    await this.#others.share(this.name, name, shared);
  }

  /** Ends that. Refused with the list of tenants that read it. */
  async unshare(name: string): Promise<void> {
    this.known(name);
    await this.#others.unshare(this.name, name);
  }

  /** What other tenants share with this one, by the names that it has in queries. */
  async shared(): Promise<readonly SharedStream[]> {
    const found = await this.#others.sharedWith(this.name);
    return found.map(({ name, kind, columns }) => ({ name, kind, columns }));
  }

  /** Registers a query together with the streams of others that it reads. */
  async #registerReading<R, P>(definition: StreamDefinition | QueryDefinition): Promise<StreamId<R, P>> {
    const inputs = "inputs" in definition ? definition.inputs : [];
    const unknown = await this.#others.importAll(inputs, this.name, this.catalog);
    if (unknown !== null) throw missing(unknown);
    try {
      return await this.#register<R, P>(definition);
    } catch (error) {
      await this.#others.releaseAll(inputs, this.name);
      throw error;
    }
  }

  /** @internal Rows have come from other tenants: wakes the readers, and those of tenants that read what came of them. */
  async look(): Promise<void> {
    const grown = (await this.#tenant.graph.positions()).filter(
      ([name, next]) => this.#seen.get(name) !== next,
    );
    for (const [name, next] of grown) this.#seen.set(name, next);
    this.results.grown(grown.map(([name]) => name));
    if (grown.length === 0) return;
    const further = new Set<string>();
    for (const [name] of grown)
      if (this.#others.isShared(this.name, name))
        for (const tenant of await this.#tenant.graph.readersOf(name)) further.add(tenant);
    this.#others.sent([...further]);
  }

  async seal(stream: string, producer: string, upTo: number | null = null): Promise<void> {
    await this.#carryOut({ kind: "seal", stream, producer, upTo });
  }

  /**
   * Declares who contributes to the partitions of a stream from now on. Partitions that have begun do not wait for new producers,
   * nor any more for producers that are gone.
   */
  async declareProducers(stream: string, producers: readonly string[]): Promise<void> {
    this.known(stream);
    await this.#carryOut({ kind: "producers", stream, producers: [...new Set(producers)] });
    await this.#refresh();
  }

  list(): readonly Described[] {
    return [...this.catalog.values()];
  }

  async describe(name: string): Promise<Described> {
    await this.#refresh();
    return this.known(name);
  }

  /** All streams and queries as they are now, with the labels of the queries: the graph. */
  async graph(): Promise<readonly GraphStream[]> {
    await this.#refresh();
    return await this.#labels.of(this.catalog);
  }

  schemaOf(name: string): Schema {
    return this.known(name).columns;
  }

  /** Pushes rows. Refused at the first that does not fit, by its place from 1 on; nothing is pushed then. */
  async pushEvents<S extends string>(
    stream: S,
    rows: readonly PushedRow<S>[],
    options: PushOptions = {},
  ): Promise<PushReceipt> {
    return await this.#push(stream, cellsOfRows(rows, this.schemaOf(stream)), options);
  }

  /** The same from lines of JSON; the first line that does not fit is named. */
  async pushNdjson(stream: string, bytes: Buffer, options: PushOptions = {}): Promise<PushReceipt> {
    const read = () => new NdjsonReader(this.known(stream).columns).read(bytes, true);
    const { batch } = this.#gatherer.reading(read);
    return await this.pushBatch(stream, batch, options);
  }

  async pushBatch(stream: string, batch: Batch, options: PushOptions = {}): Promise<PushReceipt> {
    return await this.#push(stream, batch, options);
  }

  /** The same from encoded columns, which are checked when they are applied. */
  async pushColumns(stream: string, bytes: Buffer, options: PushOptions = {}): Promise<PushReceipt> {
    return await this.#push(stream, bytes, options);
  }

  #push(stream: string, rows: GivenRows, options: PushOptions): Promise<PushReceipt> {
    this.#allowance.admit(countOf(rows));
    const known = options.seals === undefined ? this.catalog.get(stream) : this.known(stream);
    return this.#gatherer.push(rowsToPush(stream, known, rows, options));
  }

  async close(): Promise<void> {
    this.results.close();
    await this.rest();
  }

  get quotas(): Quotas {
    return this.#allowance.quotas;
  }

  async setQuotas(quotas: Partial<Quotas>): Promise<void> {
    this.#useQuotas(await this.#tenant.setQuotas(quotas));
    await this.#announce("setQuotas");
  }

  #useQuotas(quotas: Quotas): void {
    this.#allowance.use(quotas);
    this.#gatherer.cpuShare = quotas.cpuShare;
  }

  async #register<R, P>(definition: StreamDefinition | QueryDefinition): Promise<StreamId<R, P>> {
    const [command, what]: [Command, "streams" | "queries"] =
      "plan" in definition
        ? [{ kind: "define query", definition }, "queries"]
        : [{ kind: "define stream", definition }, "streams"];
    checkRetention(definition, this.quotas);
    if (definition.retention.ms !== null || ("time" in definition && definition.time !== null))
      await this.#note();
    const holdBytes = "seals" in definition ? (definition.seals?.holdBytes ?? 0) : 0;
    this.#heard(await this.#tenant.define(encodeCommand(command), what, holdBytes));
    await this.#refresh();
    await this.#announce("define");
    return definition.name as StreamId<R, P>;
  }

  async #carryOut(command: Command): Promise<CommandOutcome> {
    return this.#heard(await this.#tenant.graph.carryOut(encodeCommand(command)));
  }

  /** Wakes subscribers that wait for rows. */
  #heard(outcome: CommandOutcome): CommandOutcome {
    if (outcome.refused !== null) throw new HeadwaterError(outcome.refused.code, outcome.refused.message);
    this.results.grown(outcome.grown.map(([name]) => name));
    this.#others.sent(sentBy(outcome));
    if (outcome.answers.length > 0) this.#ticks.wake();
    return outcome;
  }

  async #refresh(): Promise<void> {
    const described = await this.#tenant.graph.describe();
    this.catalog = new Map(described.map((each) => [each.name, each]));
    await this.#measure();
  }

  async #measure(): Promise<void> {
    const { memoryBytes, retainedBytes } = await this.#tenant.graph.size();
    this.#allowance.measured(memoryBytes, retainedBytes, this.#isWorking);
  }

  /** @internal The service has no more room for the rows that its streams retain. */
  async retain(bytes: number | null): Promise<void> {
    await this.#carryOut({ kind: "retain", bytes });
    await this.#measure();
  }

  async #tick(): Promise<void> {
    if (this.catalog.size > 0) await this.#carryOut({ kind: "tick" });
    await this.#measure();
  }
}
