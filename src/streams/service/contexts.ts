import { HeadwaterError } from "../../errors.js";
import { Context } from "../../model/context.js";
import { readonly } from "../../model/marks.js";
import { owned } from "../../model/owned.js";
import { tracked } from "../../model/tracked.js";
import { type Cell, decodeBatch } from "../columns/index.js";
import type { DeliveryState, OutputDefinition } from "../delivery/index.js";
import {
  type Applied,
  encodeCommand,
  GraphEngine,
  isRefused,
  keysIn,
  PartitionEngine,
  type PartitionStatus,
  type SnapshotTable,
  snapshot,
  stamp,
} from "../graph/index.js";
import { type Described, describe } from "./describe.js";
import { type CarriedOut, type Exported, newsOf, type Shipment, shipmentOf } from "./exports.js";
import {
  type NextNumbers,
  positionsOf,
  type RowsPage,
  rowsOf,
  type ViewRows,
  viewOf,
} from "./graph-reads.js";
import { type DeadLetter, Outputs } from "./output-context.js";
import { DEFAULT_QUOTAS, type Quotas } from "./quotas.js";
import { importedName, isSharedWith, refuseInUse, type SharedWith } from "./shares.js";
import { KeptSources } from "./source-context.js";
import type { StoredToken } from "./tokens.js";

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

  /** What other tenants read of it, by name. */
  exports = tracked.map<string, Exported>();

  /** A command that concerns no partition is done at once. */
  carryOut(record: Uint8Array): CarriedOut | Promise<CarriedOut> {
    const outcome = this.#applied(record);
    return outcome.work === null ? outcome : this.#withPartitions(outcome);
  }

  #applied(record: Uint8Array): CarriedOut {
    const began = performance.now();
    const { brought, ...outcome } = this.engine.apply(stamp(record, this.event.time));
    const tookMs = performance.now() - began;
    return this.exports.size === 0
      ? { ...outcome, tookMs }
      : { ...outcome, tookMs, sentTo: this.#sendOn(brought) };
  }

  /**
   * Partitions run side by side, in this event: one ticket, one cut through all of them. Their replies go through the queries
   * that read them, which may give partitions more to do.
   */
  async #withPartitions(first: CarriedOut): Promise<CarriedOut> {
    const grown = new Map(first.grown);
    const sentTo = new Set(first.sentTo);
    for (let { work } = first; work !== null; ) {
      const replies = await Promise.all(work.map((records, i) => this.partitions(i).carryOut(records)));
      const next = this.#applied(encodeCommand({ kind: "replies", replies }));
      for (const [name, number] of next.grown) grown.set(name, number);
      for (const tenant of next.sentTo ?? []) sentTo.add(tenant);
      work = next.work;
    }
    return { ...first, grown: [...grown], sentTo: [...sentTo], work: null };
  }

  /** Sends new rows of shared streams to the tenants that read them: as started events, each once and in order. */
  #sendOn(brought: Applied["brought"]): readonly string[] {
    const sentTo = new Set<string>();
    for (const [name, exported] of this.exports) {
      const { batches, watermark } = this.engine.read((engine) => newsOf(engine, name, brought));
      if (batches.length === 0 && watermark === exported.watermark) continue;
      if (watermark !== exported.watermark) this.exports.set(name, { ...exported, watermark });
      const record = encodeCommand({ kind: "receive", stream: exported.as, batches, watermark });
      for (const tenant of exported.tenants) {
        this.event.start(this.above(Streams).tenants(tenant).graph).carryOut(record);
        sentTo.add(tenant);
      }
    }
    return [...sentTo];
  }

  /** Sends new rows of a stream to a tenant from now on. Returns what that tenant begins with. */
  export(name: string, as: string, tenant: string): Shipment {
    const shipment = this.engine.read((engine) => shipmentOf(engine, name, as));
    const { tenants = [] } = this.exports.get(name) ?? {};
    const others = tenants.filter((each) => each !== tenant);
    this.exports.set(name, { as, tenants: [...others, tenant], watermark: shipment.watermark });
    return shipment;
  }

  /** The tenants that read a stream. */
  @readonly readersOf(name: string): readonly string[] {
    return this.exports.get(name)?.tenants ?? [];
  }

  stopExport(name: string, tenant: string): void {
    const exported = this.exports.get(name);
    if (exported === undefined) return;
    const tenants = exported.tenants.filter((each) => each !== tenant);
    if (tenants.length === 0) this.exports.delete(name);
    else this.exports.set(name, { ...exported, tenants });
  }

  /** How many records its engine has applied. */
  @readonly position(): number {
    return this.engine.position;
  }

  /** The numbers that the next rows of streams get. */
  @readonly positions(): NextNumbers {
    return this.engine.read(positionsOf);
  }

  @readonly has(name: string): boolean {
    return this.engine.read(({ nodes }) => nodes.has(name));
  }

  /** Refuses what cannot be shared. */
  @readonly checkShared(name: string): void {
    this.engine.read((engine) => shipmentOf(engine, name, name));
  }

  @readonly describe(): readonly Described[] {
    return this.engine.read(describe);
  }

  @readonly async size() {
    const { partitions, ...size } = this.engine.read(({ nodes, memoryBytes }) => ({
      streams: nodes.sources.length,
      queries: nodes.queries.length,
      memoryBytes,
      retainedBytes: nodes.retainedBytes,
      holdBytes: nodes.sources.reduce((sum, { hold }) => sum + (hold?.seals.holdBytes ?? 0), 0),
      partitions: Math.max(1, ...nodes.queries.map(({ definition }) => definition.partitions)),
    }));
    if (partitions === 1) return size;
    const held = await Promise.all(
      Array.from({ length: partitions }, (_, i) => this.partitions(i).memoryBytes()),
    );
    return { ...size, memoryBytes: held.reduce((sum, bytes) => sum + bytes, size.memoryBytes) };
  }

  @readonly rows(name: string, from: number, bytesMax: number): RowsPage {
    return this.engine.read((engine) => rowsOf(engine, name, from, bytesMax));
  }

  /** How far a partition of a stream is, by the batch of its key. */
  @readonly partition(stream: string, key: Uint8Array): PartitionStatus {
    return this.engine.read(({ nodes }) => {
      const hold = nodes.source(stream)?.hold ?? null;
      if (hold === null) throw new HeadwaterError("HW-5411", `the partitions of "${stream}" are not sealed.`);
      const [name = ""] = keysIn(decodeBatch(Buffer.from(key), hold.key));
      return hold.status(name);
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
  ): ViewRows {
    return this.engine.read((engine) => viewOf(engine, name, from, to, rowsMax));
  }
}

/** A refused command has changed nothing, and its event is rolled back. */
function accepted({ refused }: CarriedOut): void {
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
  async define(record: Uint8Array, what: "streams" | "queries", holdBytes = 0): Promise<CarriedOut> {
    const size = await this.graph.size();
    const heldMax = this.quotas.heldBytes ?? DEFAULT_QUOTAS.heldBytes;
    if (holdBytes > 0 && size.holdBytes + holdBytes > heldMax)
      throw new HeadwaterError(
        "HW-5408",
        `the streams of the tenant may hold ${size.holdBytes} bytes for partitions that are not sealed, and ${holdBytes} more would be above ${heldMax}. Nothing was registered.`,
      );
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
    { last, position }: { readonly last: number | null; readonly position: number | null },
    rows: number,
    errors: number,
  ): Promise<CarriedOut> {
    const { state } = await this.sources.one(name);
    if (position !== null && state.position !== last)
      throw new HeadwaterError(
        "HW-5504",
        `the source "${name}" is at ${state.position}, and another process reads it: what came after ${last} is not taken twice.`,
      );
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
    this.quotas = { ...DEFAULT_QUOTAS, ...this.quotas, ...quotas };
    return this.quotas;
  }

  @readonly allQuotas(): Quotas {
    return { ...DEFAULT_QUOTAS, ...this.quotas };
  }
}

/** The service: its tenants, and what they share. */
export class Streams extends Context {
  tenants = this.children(Tenant);
  names = tracked.set<string>();
  /** Tenants with outputs, sources, event time or a retention in time, which work without being asked. */
  active = tracked.set<string>();

  addTenant(name: string) {
    const isNew = !this.names.has(name);
    if (isNew) this.names.add(name);
    return isNew;
  }

  /** By the name that it has in queries of others: OWNER.STREAM. */
  shares = tracked.map<string, SharedWith>();

  /** Shares a stream with some tenants or all. Refused if a tenant reads it that it would not be shared with any more. */
  async share(owner: string, name: string, shared: SharedWith): Promise<void> {
    const { graph } = this.tenants(owner);
    await graph.checkShared(name);
    const users = await graph.readersOf(name);
    refuseInUse(
      name,
      users.filter((user) => !isSharedWith(shared, user)),
    );
    this.shares.set(importedName(owner, name), shared);
  }

  async unshare(owner: string, name: string): Promise<void> {
    refuseInUse(name, await this.tenants(owner).graph.readersOf(name));
    this.shares.delete(importedName(owner, name));
  }

  @readonly allShares(): (readonly [string, SharedWith])[] {
    return [...this.shares];
  }

  /** Makes a shared stream readable in the queries of a tenant. Returns false if it is not shared with that tenant. */
  async import(owner: string, name: string, tenant: string): Promise<boolean> {
    const as = importedName(owner, name);
    if (!isSharedWith(this.shares.get(as), tenant)) return false;
    const { graph } = this.tenants(tenant);
    if (await graph.has(as)) return true;
    const shipment = await this.tenants(owner).graph.export(name, as, tenant);
    const { refused } = await graph.carryOut(
      encodeCommand({ kind: "define stream", definition: shipment.definition }),
    );
    if (refused !== null) throw new HeadwaterError(refused.code, refused.message);
    const { batches, watermark } = shipment;
    await graph.carryOut(encodeCommand({ kind: "receive", stream: as, batches, watermark }));
    return true;
  }

  /** Ends the import of a stream that no query of the tenant reads. */
  async release(owner: string, name: string, tenant: string): Promise<void> {
    const as = importedName(owner, name);
    const { refused } = await this.tenants(tenant).graph.carryOut(
      encodeCommand({ kind: "remove", name: as }),
    );
    if (refused === null) await this.tenants(owner).graph.stopExport(name, tenant);
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
