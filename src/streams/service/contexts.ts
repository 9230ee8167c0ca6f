import { HeadwaterError } from "../../errors.js";
import { Context } from "../../model/context.js";
import { readonly } from "../../model/marks.js";
import { owned } from "../../model/owned.js";
import { tracked } from "../../model/tracked.js";
import type { Cell, Schema } from "../columns/index.js";
import type { DeliveryState, OutputDefinition } from "../delivery/index.js";
import {
  type CommandOutcome,
  encodeCommand,
  GraphEngine,
  isRefused,
  PartitionEngine,
  type SnapshotTable,
  snapshot,
  stamp,
} from "../graph/index.js";
import { type Described, describe } from "./describe.js";
import { type DeadLetter, Outputs } from "./output-context.js";
import { DEFAULT_QUOTAS, type Quotas } from "./quotas.js";
import { KeptSources } from "./source-context.js";
import type { StoredToken } from "./tokens.js";

/** Rows of a stream as segments of encoded columns, with the number of the first row of each. */
export interface RowsPage {
  readonly columns: Schema;
  readonly segments: readonly { readonly first: number; readonly rows: number; readonly bytes: Uint8Array }[];
  /** The numbers of the first row that is retained, and of the next row to come. */
  readonly first: number;
  readonly next: number;
}

/** One partition of every query of a graph that is divided. It can be on another host than the graph. */
export class Partition extends Context<number> {
  engine = owned(() => new PartitionEngine());

  carryOut(records: readonly Uint8Array[]): Uint8Array[] {
    return records.map((record) => this.engine.apply(record));
  }

  @readonly memoryBytes(): number {
    return this.engine.read((engine) => engine.memoryBytes);
  }
}

/** The streams and queries of a tenant. One event is one batch through all of them: one atomic group of the journal. */
export class Graph extends Context {
  engine = owned(() => new GraphEngine());
  partitions = this.children(Partition);

  /** A command that concerns no partition is done at once. */
  carryOut(record: Uint8Array): CommandOutcome | Promise<CommandOutcome> {
    const outcome = this.engine.apply(stamp(record, this.event.time));
    return outcome.work === null ? outcome : this.#withPartitions(outcome);
  }

  /**
   * Partitions run side by side, in this event: one ticket, one cut through all of them. Their replies go through the queries
   * that read them, which may give partitions more to do.
   */
  async #withPartitions(first: CommandOutcome): Promise<CommandOutcome> {
    const grown = new Map(first.grown);
    for (let { work } = first; work !== null; ) {
      const replies = await Promise.all(work.map((records, i) => this.partitions(i).carryOut(records)));
      const next = this.engine.apply(stamp(encodeCommand({ kind: "replies", replies }), this.event.time));
      for (const [name, number] of next.grown) grown.set(name, number);
      work = next.work;
    }
    return { ...first, grown: [...grown], work: null };
  }

  @readonly describe(): readonly Described[] {
    return this.engine.read(describe);
  }

  @readonly async size() {
    const { partitions, ...size } = this.engine.read(({ nodes, memoryBytes }) => ({
      streams: nodes.sources.length,
      queries: nodes.queries.length,
      memoryBytes,
      partitions: Math.max(1, ...nodes.queries.map(({ definition }) => definition.partitions)),
    }));
    if (partitions === 1) return size;
    const held = await Promise.all(
      Array.from({ length: partitions }, (_, i) => this.partitions(i).memoryBytes()),
    );
    return { ...size, memoryBytes: held.reduce((sum, bytes) => sum + bytes, size.memoryBytes) };
  }

  @readonly rows(name: string, from: number, bytesMax: number): RowsPage {
    return this.engine.read(({ nodes }) => {
      const channel = nodes.channel(name);
      if (channel === null) throw new HeadwaterError("HW-5401", nodes.missing(name).message);
      const { first, next } = channel.log;
      const segments = channel.log
        .read(Math.max(from, first), bytesMax)
        .map((segment) => ({ first: segment.first, rows: segment.entries, bytes: segment.bytes }));
      return { columns: channel.schema, segments, first, next };
    });
  }

  /** The rows of some tables and views, all of one moment. */
  @readonly snapshot(names: readonly string[], bytesMax: number): readonly SnapshotTable[] {
    return this.engine.read((engine) => snapshot(engine, names, bytesMax));
  }

  /** The rows of a table or a view, in the order of their keys. */
  @readonly view(
    name: string,
    from: readonly Cell[] | null,
    to: readonly Cell[] | null,
    rowsMax: number,
  ): {
    readonly columns: Schema;
    readonly key: readonly number[] | null;
    readonly rows: (readonly Cell[])[];
  } {
    return this.engine.read(({ nodes }) => {
      const channel = nodes.channel(name);
      if (channel === null) throw new HeadwaterError("HW-5401", nodes.missing(name).message);
      if (channel.rows === null)
        throw new HeadwaterError(
          "HW-5410",
          `"${name}" is not a table or a materialized view, so it holds no rows. Read its results instead.`,
        );
      return { columns: channel.schema, key: channel.rows.key, rows: channel.rows.range(from, to, rowsMax) };
    });
  }
}

/** A refused command has changed nothing, and its event is rolled back. */
function accepted({ refused }: CommandOutcome): void {
  if (refused !== null) throw new HeadwaterError(refused.code, refused.message);
}

/** Who uses the service: its quotas, its tokens, and its graph. */
export class Tenant extends Context<string> {
  graph = this.child(Graph);
  outputs = this.child(Outputs);
  sources = this.child(KeptSources);
  quotas: Quotas = DEFAULT_QUOTAS;
  tokens = tracked.map<string, StoredToken>();

  /** Registers a stream or a query, within the quotas: two requests cannot race past them. */
  async define(record: Uint8Array, what: "streams" | "queries"): Promise<CommandOutcome> {
    const size = await this.graph.size();
    if (size[what] >= this.quotas[what])
      throw new HeadwaterError(
        "HW-5408",
        `the tenant has ${size[what]} ${what}, and may have ${this.quotas[what]}. Nothing was registered.`,
      );
    return this.graph.carryOut(record);
  }

  /** An output and its position in the graph, in one event. */
  async addOutput(definition: OutputDefinition, state: DeliveryState, cursor: Uint8Array): Promise<void> {
    await this.outputs.add(definition, state);
    accepted(await this.graph.carryOut(cursor));
  }

  async removeOutput(name: string, cursor: Uint8Array): Promise<void> {
    await this.outputs.remove(name);
    accepted(await this.graph.carryOut(cursor));
  }

  async moveOutput(name: string, state: DeliveryState, cursor: Uint8Array): Promise<void> {
    await this.outputs.move(name, state);
    accepted(await this.graph.carryOut(cursor));
  }

  async buryOutput(
    name: string,
    letter: DeadLetter,
    state: DeliveryState,
    cursor: Uint8Array,
  ): Promise<void> {
    await this.outputs.bury(name, letter);
    await this.moveOutput(name, state, cursor);
  }

  /** Rows of a source and its position, in one event: a message that comes again is not taken again. */
  async takeFrom(
    name: string,
    record: Uint8Array,
    position: number | null,
    rows: number,
    errors: number,
  ): Promise<CommandOutcome> {
    const { state } = await this.sources.one(name);
    const next = {
      position: position ?? state.position,
      rows: state.rows + rows,
      errors: state.errors + errors,
    };
    await this.sources.move(name, next);
    const outcome = await this.graph.carryOut(record);
    accepted(outcome);
    for (const answer of outcome.answers)
      if (isRefused(answer)) throw new HeadwaterError(answer.code, answer.message);
    return outcome;
  }

  addToken(id: string, token: StoredToken) {
    this.tokens.set(id, token);
  }

  removeToken(id: string) {
    return this.tokens.delete(id);
  }

  @readonly allTokens(): (readonly [string, StoredToken])[] {
    return [...this.tokens];
  }

  setQuotas(quotas: Partial<Quotas>) {
    this.quotas = { ...this.quotas, ...quotas };
    return this.quotas;
  }

  @readonly allQuotas() {
    return this.quotas;
  }
}

/** The service: its tenants. */
export class Streams extends Context {
  tenants = this.children(Tenant);
  names = tracked.set<string>();
  /** Tenants with outputs or sources, which work without being asked. */
  active = tracked.set<string>();

  addTenant(name: string) {
    const isNew = !this.names.has(name);
    if (isNew) this.names.add(name);
    return isNew;
  }

  @readonly allNames(): string[] {
    return [...this.names];
  }

  setActive(name: string) {
    if (!this.active.has(name)) this.active.add(name);
  }

  @readonly allActive(): string[] {
    return [...this.active];
  }
}
