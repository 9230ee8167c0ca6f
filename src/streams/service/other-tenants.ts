import type { EngineCopies } from "../../host/cluster-side.js";
import type { Service } from "../../host/service.js";
import type { Streams } from "./contexts.js";
import type { Described } from "./describe.js";
import type { MemoryShares } from "./memory-shares.js";
import type { OutputSurroundings } from "./outputs.js";
import { importedName, isSharedWith, ownerOf, type SharedWith } from "./shares.js";
import type { TenantStreams } from "./tenant-streams.js";
import type { RoundTurns } from "./turns.js";

/** A stream of another tenant as it is shown to the tenants that it is shared with. */
export type SharedStream = Pick<Described, "name" | "kind" | "columns">;

/** What the streams of one tenant are told of the service. */
export interface TenantSurroundings extends OutputSurroundings {
  readonly others: OtherTenants;
  readonly turns: RoundTurns;
  readonly memory: MemoryShares;
  /** Null outside of a cluster. */
  readonly copies: EngineCopies | null;
  /** Resolves when every process of the cluster knows that the tenant was changed. */
  readonly announce: (method: string) => Promise<void>;
}

/** What the tenants of a service share with each other. All that one tenant can reach of another goes through here. */
export class OtherTenants {
  readonly #root: Service<Streams>["root"];
  #shares: Map<string, SharedWith>;
  readonly #tenant: (name: string) => Promise<TenantStreams>;
  readonly #opened: (name: string) => Promise<TenantStreams> | undefined;

  constructor(
    root: Service<Streams>["root"],
    shares: readonly (readonly [string, SharedWith])[],
    tenant: (name: string) => Promise<TenantStreams>,
    opened: (name: string) => Promise<TenantStreams> | undefined,
  ) {
    this.#root = root;
    this.#shares = new Map(shares);
    this.#tenant = tenant;
    this.#opened = opened;
  }

  /** Other processes may have shared streams. */
  reload(shares: readonly (readonly [string, SharedWith])[]): void {
    this.#shares = new Map(shares);
  }

  isShared(owner: string, name: string): boolean {
    return this.#shares.has(importedName(owner, name));
  }

  async share(owner: string, name: string, shared: SharedWith): Promise<void> {
    await this.#root.share(owner, name, shared);
    this.#shares.set(importedName(owner, name), shared);
  }

  async unshare(owner: string, name: string): Promise<void> {
    if (!this.isShared(owner, name)) return;
    await this.#root.unshare(owner, name);
    this.#shares.delete(importedName(owner, name));
  }

  /** What others share with a tenant: names and columns, and nothing of where it comes from. */
  async sharedWith(tenant: string): Promise<readonly Described[]> {
    const found: Described[] = [];
    for (const [imported, shared] of this.#shares) {
      const origin = ownerOf(imported);
      if (origin === null || origin.owner === tenant || !isSharedWith(shared, tenant)) continue;
      const owner = await this.#tenant(origin.owner);
      const known = owner.list().find(({ name }) => name === origin.name);
      if (known === undefined) continue;
      const { kind } = known;
      found.push({
        ...{ ...known, name: imported, kind: kind === "table" || kind === "view" ? "table" : "stream" },
        ...{ sql: null, inputs: [], readers: [], producers: [], memoryBytes: 0, late: 0, errors: 0 },
        ...{ seals: null, sealedOn: null, sealedTogether: null },
      });
    }
    return found;
  }

  /** All that a query of a tenant may read: what is the tenant's own, and what others share with it. */
  async readable(
    tenant: string,
    own: ReadonlyMap<string, Described>,
  ): Promise<ReadonlyMap<string, Described>> {
    const shared = await this.sharedWith(tenant);
    if (shared.length === 0) return own;
    return new Map([...shared.map((each) => [each.name, each] as const), ...own]);
  }

  /** Imports the streams of others among some inputs of a query. Returns one that is not shared any more, if there is one. */
  async importAll(
    inputs: readonly string[],
    tenant: string,
    own: ReadonlyMap<string, Described>,
  ): Promise<string | null> {
    for (const input of inputs) {
      const origin = ownerOf(input);
      if (origin === null || own.has(input)) continue;
      if (!(await this.#root.import(origin.owner, origin.name, tenant))) return input;
    }
    return null;
  }

  /** Ends the imports among some inputs that no query of the tenant reads any more. */
  async releaseAll(inputs: readonly string[], tenant: string): Promise<void> {
    for (const input of inputs) {
      const origin = ownerOf(input);
      if (origin !== null) await this.#root.release(origin.owner, origin.name, tenant);
    }
  }

  /** Rows are on their way to tenants. Open tenants look at what has come: a look gets its ticket behind the rows. */
  sent(tenants: readonly string[]): void {
    for (const name of tenants)
      this.#opened(name)
        ?.then((tenant) => tenant.look())
        .catch(() => {}); // the service is closing; what has come is found by readers
  }
}
