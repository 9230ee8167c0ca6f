import { run } from "../../doors.js";
import { HeadwaterError } from "../../errors.js";
import { CLUSTER, type ClusterSide, type EventChange } from "../../host/cluster-side.js";
import type { ProgramHosts } from "../../host/fleet/index.js";
import { type AnyService, hostsOf, type RunOptions, type Service } from "../../host/service.js";
import type { Durability, Journal } from "../../journal/journal.js";
import { DOOR } from "../../model/door.js";
import type { OutputPolicy } from "../delivery/index.js";
import { functionsUrl, loadFunctions } from "../functions/index.js";
import type { SourcePolicy } from "../sources/index.js";
import { sortedChanges, tenantContext, tenantIn } from "./changes.js";
import { Partition, Streams } from "./contexts.js";
import { type Granted, GrantedTokens } from "./granted-tokens.js";
import { MemoryShares } from "./memory-shares.js";
import { OtherTenants } from "./other-tenants.js";
import { type OutputSurroundings, PUBLIC_TARGETS } from "./outputs.js";
import type { SharedWith } from "./shares.js";
import { TenantStreams } from "./tenant-streams.js";
import { newToken, type StoredToken, type TokenScope } from "./tokens.js";
import { RoundTurns } from "./turns.js";

export interface StreamsOptions {
  /** Where everything is kept, a directory or the log of a cluster (docs/cluster.md); without one, it is gone with the process. */
  readonly journal?: string | Journal;
  /** What this process is in its cluster. */
  readonly member?: RunOptions["member"];
  readonly durability?: Durability;
  /** How many hosts run the graphs and the partitions of queries. 1: everything runs in this thread. */
  readonly hosts?: number;
  /** Whether hosts are threads of this process (the default) or processes of their own. */
  readonly hostsAs?: "threads" | "processes";
  /** Hears that nothing can be kept any more. */
  readonly onFailure?: (error: HeadwaterError) => void;
  /** Where outputs may deliver to and sources may read from, besides what can be reached over the internet. */
  readonly outputs?: Partial<OutputPolicy & SourcePolicy>;
  /** Hears what is worth a line in a log: rows that an output has missed. */
  readonly warn?: (message: string) => void;
  /**
   * What the streams and queries of all tenants may hold in memory together; 1 GB if it is not given. When they hold more, the tenants
   * above their fair share retain fewer rows (docs/streams.md).
   */
  readonly memoryBytes?: number;
  /** A module that declares functions for queries (`fn`, `aggregate`): this process and every host load it. */
  readonly functions?: string;
}

/** The part of the address of the hosts' program that names the module of functions. */
const FUNCTIONS = "functions";

const MEMORY_BYTES = 2 ** 30;

const TENANT = /^[a-z][a-z0-9-]{0,39}$/;

/** The streaming service in this process. */
export class StreamService {
  readonly #service: Service<Streams>;
  readonly #names: Set<string>;
  readonly #tenants = new Map<string, Promise<TenantStreams>>();
  readonly #tokens: GrantedTokens;
  readonly #others: OtherTenants;
  readonly #turns = new RoundTurns();
  readonly #memory: MemoryShares;
  readonly #cluster: ClusterSide | null;
  #changing: Promise<void> = Promise.resolve();

  readonly #around: Pick<OutputSurroundings, "policy" | "warn">;
  #woken: Promise<void> = Promise.resolve();
  #isClosing = false;

  private constructor(
    service: Service<Streams>,
    names: readonly string[],
    shares: readonly (readonly [string, SharedWith])[],
    around: Pick<OutputSurroundings, "policy" | "warn">,
    memoryBytes: number,
  ) {
    this.#around = around;
    this.#memory = new MemoryShares(memoryBytes);
    this.#service = service;
    this.#others = new OtherTenants(
      service.root,
      shares,
      (name) => this.tenant(name),
      (name) => this.#tenants.get(name),
    );
    this.#names = new Set(names);
    const side = service[CLUSTER];
    this.#cluster = side;
    this.#tokens = new GrantedTokens(
      async (tenant) => {
        if (side?.isCurrent === false) await this.#reloadNames();
        return this.#names.has(tenant) ? await service.root.tenants(tenant).allTokens() : null;
      },
      () => side?.isCurrent ?? true,
    );
  }

  static async open({
    outputs,
    warn = () => {},
    functions,
    memoryBytes = MEMORY_BYTES,
    ...options
  }: StreamsOptions = {}): Promise<StreamService> {
    const address = new URL("./program.js", import.meta.url);
    if (functions !== undefined) {
      await loadFunctions(functions);
      address.searchParams.set(FUNCTIONS, functionsUrl(functions));
    }
    const module = address.href;
    const { member, ...rest } = options;
    const given = {
      ...rest,
      ...(member === undefined ? {} : { member }),
      module,
      placement: { separate: [Partition] },
    };
    const around = { policy: { ...PUBLIC_TARGETS, ...outputs }, warn };
    const program = (await run(Streams, given)) as Service<Streams>;
    const { root } = program;
    const [names, shares] = [await root.allNames(), await root.allShares()];
    const service = new StreamService(program, names, shares, around, memoryBytes);
    const side = program[CLUSTER];
    side?.watch({
      changed: (changes) => service.#changed(changes),
      role: (isHead) => service.#role(isHead),
    });
    side?.copies.onGrown((context) => service.#copied(context));
    if (side === null) service.#woken = service.#wake(await root.allActive());
    else service.#role(side.isHead);
    return service;
  }

  /** In a cluster, the head's process moves time on, delivers outputs and reads sources, for all tenants. */
  #role(isHead: boolean): void {
    this.#changing = this.#changing
      .then(async () => {
        if (isHead) await this.#reloadNames();
        for (const name of isHead ? this.#names : this.#tenants.keys()) {
          if (this.#cluster?.isHead !== isHead) return;
          const tenant = await this.tenant(name);
          await (isHead ? tenant.work() : tenant.rest());
        }
      })
      .catch(() => {}); // the process leaves the cluster, or another head is there: then it is told again
  }

  async #reloadNames(): Promise<void> {
    for (const name of await this.#service.root.allNames()) this.#names.add(name);
  }

  /** Events were carried out, perhaps for other processes. What this process keeps in memory is up to date after it. */
  async #changed(changes: readonly EventChange[] | null): Promise<void> {
    const { all, whole, rows } = sortedChanges(changes);
    if (all) {
      await this.#reloadNames();
      this.#others.reload(await this.#service.root.allShares());
    }
    for (const name of all ? this.#names : whole) {
      this.#names.add(name);
      await this.#tokens.reload(name);
      await (await this.#tenants.get(name))?.reload();
    }
    for (const name of rows) (await this.#tenants.get(name))?.pushed();
    if (this.#cluster?.isHead !== true) return;
    for (const name of [...whole, ...rows])
      if (!this.#tenants.has(name)) void this.tenant(name).catch(() => {});
  }

  /** The copy of a graph has more than before, or is gone: readers need not be told by the head. */
  #copied(context: string): void {
    const tenant = this.#tenants.get(tenantIn(context) ?? "");
    tenant?.then((streams) => streams.copied()).catch(() => {}); // it could not be opened, which its readers were told
  }

  /** Opens tenants that work without being asked, one after the other, while requests are answered already. */
  async #wake(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#isClosing) return;
      await this.tenant(name).catch((error: unknown) => {
        this.#around.warn(`the tenant ${name} does not go on by itself: ${String(error)}`);
      });
    }
  }

  /** The streams of a tenant, which is made on first use. */
  tenant(name: string): Promise<TenantStreams> {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    if (!TENANT.test(name))
      return Promise.reject(
        new HeadwaterError(
          "HW-5403",
          `${JSON.stringify(name.slice(0, 80))} cannot be the name of a tenant: lower-case letters, digits and "-", a letter first, at most 40.`,
        ),
      );
    const opened = this.#open(name);
    this.#tenants.set(name, opened);
    opened.catch(() => this.#tenants.delete(name));
    return opened;
  }

  async #open(name: string): Promise<TenantStreams> {
    const { root } = this.#service;
    if (!this.#names.has(name)) await root.addTenant(name);
    this.#names.add(name);
    const note = () => root.setActive(name);
    const announce = (method: string) => this.#announce(name, method);
    const around = {
      ...this.#around,
      note,
      others: this.#others,
      announce,
      turns: this.#turns,
      memory: this.#memory,
      copies: this.#cluster?.copies ?? null,
    };
    const tenant = await TenantStreams.open(name, root.tenants(name), around);
    if (this.#cluster?.isHead !== false) await tenant.work();
    return tenant;
  }

  /** Resolves when every process of the cluster knows of it. */
  async #announce(tenant: string, method: string, isStrict = false): Promise<void> {
    await this.#cluster?.announce([[tenantContext(tenant), method]], isStrict);
  }

  /** The hosts, to look at them, to add and remove some, and to move contexts; with one host there are none. */
  get hosts(): ProgramHosts {
    return hostsOf(this.#service);
  }

  /** The program that the service is, for observers. */
  get program(): AnyService {
    return this.#service;
  }

  /** Why nothing can be kept any more; null if it can. */
  async health(): Promise<HeadwaterError | null> {
    return await this.#service[DOOR].health();
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The tenants that there are. */
  get tenants(): readonly string[] {
    return [...this.#names];
  }

  /** A new token, which is shown once: only its hash is kept. */
  async addToken(
    tenant: string,
    scopes: readonly TokenScope[],
    expiresMs: number | null = null,
  ): Promise<string> {
    await this.tenant(tenant);
    const { token, id, hash } = newToken(tenant);
    const stored: StoredToken = { hash, scopes, expiresMs };
    await this.#service.root.tenants(tenant).addToken(id, stored);
    await this.#tokens.add(tenant, id, stored);
    await this.#announce(tenant, "addToken");
    return token;
  }

  /** The tokens of a tenant by their ids; their secrets are not kept. */
  async tokensOf(tenant: string): Promise<
    readonly {
      readonly id: string;
      readonly scopes: readonly TokenScope[];
      readonly expiresMs: number | null;
    }[]
  > {
    return [...(await this.#tokens.of(tenant))].map(([id, { scopes, expiresMs }]) => ({
      id,
      scopes,
      expiresMs,
    }));
  }

  /** Revokes a token and closes the connections that it keeps open, in all processes of a cluster. */
  async revokeToken(tenant: string, id: string): Promise<boolean> {
    const isRemoved = this.has(tenant) && (await this.#service.root.tenants(tenant).removeToken(id));
    await this.#tokens.revoke(tenant, id);
    await this.#announce(tenant, "removeToken", true);
    return isRemoved;
  }

  /** Whose a token is; `null` if it is not a token, is revoked or has expired. */
  async granted(token: string): Promise<Granted | null> {
    return await this.#tokens.granted(token);
  }

  /** Calls back when the token of a connection is revoked or expires. Returns how to stop that. */
  watch(granted: Granted, end: (error: HeadwaterError) => void): () => void {
    return this.#tokens.watch(granted, end);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#woken;
    for (const tenant of this.#tenants.values()) await (await tenant).close();
    await this.#service.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Opens the streams of one process: of the tenant "default", with the service around them. */
export async function openStreams(
  options: StreamsOptions = {},
): Promise<TenantStreams & { readonly service: StreamService }> {
  const service = await StreamService.open(options);
  return Object.assign(await service.tenant("default"), { service });
}
