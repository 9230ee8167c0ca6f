import { HeadwaterError } from "../../errors.js";
import type { ProgramHosts } from "../../host/fleet/index.js";
import { run } from "../../host/run.js";
import { hostsOf, type Service } from "../../host/service.js";
import type { Durability, Journal } from "../../journal/journal.js";
import type { OutputPolicy } from "../delivery/index.js";
import type { SourcePolicy } from "../sources/index.js";
import { Partition, Streams } from "./contexts.js";
import { type OutputSurroundings, PUBLIC_TARGETS } from "./outputs.js";
import { TenantStreams } from "./tenant-streams.js";
import { isToken, newToken, partsOf, type StoredToken, type TokenScope } from "./tokens.js";

export interface StreamsOptions {
  /** Where everything is kept; without one, it is gone with the process. */
  readonly journal?: string | Journal;
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
}

const TENANT = /^[a-z][a-z0-9-]{0,39}$/;

/** Who calls: a token of a tenant. */
export interface Granted {
  readonly tenant: string;
  readonly id: string;
  readonly scopes: readonly TokenScope[];
}

/** The streaming service in this process. */
export class StreamService {
  readonly #service: Service<Streams>;
  readonly #tenants = new Map<string, Promise<TenantStreams>>();
  readonly #tokens = new Map<string, Map<string, StoredToken>>();

  readonly #around: Pick<OutputSurroundings, "policy" | "warn">;

  private constructor(service: Service<Streams>, around: Pick<OutputSurroundings, "policy" | "warn">) {
    this.#service = service;
    this.#around = around;
  }

  static async open({ outputs, warn = () => {}, ...options }: StreamsOptions = {}): Promise<StreamService> {
    const module = new URL("./program.js", import.meta.url).href;
    const given = { ...options, module, placement: { separate: [Partition] } };
    const around = { policy: { ...PUBLIC_TARGETS, ...outputs }, warn };
    const service = new StreamService((await run(Streams, given)) as Service<Streams>, around);
    for (const name of await service.#service.root.allNames()) await service.tenant(name);
    for (const name of await service.#service.root.allActive()) await service.tenant(name);
    return service;
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
    await root.addTenant(name);
    this.#tokens.set(name, new Map(await root.tenants(name).allTokens()));
    const note = () => root.setActive(name);
    return await TenantStreams.open(name, root.tenants(name), { ...this.#around, note });
  }

  /** The hosts, to look at them, to add and remove some, and to move contexts; with one host there are none. */
  get hosts(): ProgramHosts {
    return hostsOf(this.#service);
  }

  has(name: string): boolean {
    return this.#tenants.has(name);
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
    this.#tokens.get(tenant)?.set(id, stored);
    return token;
  }

  async revokeToken(tenant: string, id: string): Promise<boolean> {
    this.#tokens.get(tenant)?.delete(id);
    return await this.#service.root.tenants(tenant).removeToken(id);
  }

  /** Whose a token is; `null` if it is not a token, is revoked or has expired. */
  granted(token: string): Granted | null {
    const named = partsOf(token);
    const stored = named === null ? undefined : this.#tokens.get(named.tenant)?.get(named.id);
    if (named === null || stored === undefined || !isToken(token, stored)) return null;
    if (stored.expiresMs !== null && stored.expiresMs <= Date.now()) return null;
    return { ...named, scopes: stored.scopes };
  }

  async close(): Promise<void> {
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
