import { HeadwaterError } from "../../errors.js";
import { hashOf, isToken, partsOf, type StoredToken, type TokenScope } from "./tokens.js";

/** Who calls: a token of a tenant. */
export interface Granted {
  readonly tenant: string;
  readonly id: string;
  readonly scopes: readonly TokenScope[];
  /** In milliseconds since 1970; `null`: it does not expire. */
  readonly expiresMs: number | null;
}

type End = (error: HeadwaterError) => void;

/** A token that does not exist takes the same way through the code as one that does. */
const NONE: StoredToken = { hash: hashOf("no token"), scopes: [], expiresMs: null };
/** Timers take no longer delays. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The tokens of all tenants, those of a tenant in memory from their first use on, and the connections that they keep open. */
export class GrantedTokens {
  readonly #tokens = new Map<string, Promise<Map<string, StoredToken>>>();
  readonly #open = new Map<string, Set<End>>();

  /**
   * `load` gives the tokens of a tenant; `null` if there is no such tenant. `isCurrent`: are tokens in memory what they are? In a cluster, another
   * process may revoke one.
   */
  constructor(
    readonly load: (tenant: string) => Promise<(readonly [string, StoredToken])[] | null>,
    readonly isCurrent: () => boolean = () => true,
  ) {}

  of(tenant: string): Promise<Map<string, StoredToken>> {
    const known = this.#tokens.get(tenant);
    if (known !== undefined) return known;
    const loading = this.load(tenant).then((tokens) => {
      if (tokens === null) this.#tokens.delete(tenant); // names of strangers are not kept
      return new Map(tokens ?? []);
    });
    this.#tokens.set(tenant, loading);
    loading.catch(() => this.#tokens.delete(tenant));
    return loading;
  }

  /** Whose a token is; `null` if it is not a token, is revoked or has expired. */
  async granted(token: string): Promise<Granted | null> {
    const named = partsOf(token);
    if (named !== null && !this.isCurrent()) this.#tokens.delete(named.tenant);
    const stored = named === null ? undefined : (await this.of(named.tenant)).get(named.id);
    const isRight = isToken(token, stored ?? NONE);
    if (named === null || stored === undefined || !isRight || isOver(stored)) return null;
    return { ...named, scopes: stored.scopes, expiresMs: stored.expiresMs };
  }

  async add(tenant: string, id: string, token: StoredToken): Promise<void> {
    (await this.of(tenant)).set(id, token);
  }

  async revoke(tenant: string, id: string): Promise<void> {
    (await this.of(tenant)).delete(id);
    this.#end(tenant, id);
  }

  /** Another process may have made and revoked tokens: connections end whose tokens are revoked. */
  async reload(tenant: string): Promise<void> {
    this.#tokens.delete(tenant);
    const open = [...this.#open.keys()].filter((key) => key.startsWith(`${tenant} `));
    if (open.length === 0) return;
    const tokens = await this.of(tenant);
    for (const key of open) {
      const id = key.slice(tenant.length + 1);
      if (!tokens.has(id)) this.#end(tenant, id);
    }
  }

  #end(tenant: string, id: string): void {
    const error = new HeadwaterError(
      "HW-4011",
      "the token of this connection was revoked. Ask for a new one.",
    );
    const key = `${tenant} ${id}`;
    const ends = this.#open.get(key);
    this.#open.delete(key);
    for (const end of ends ?? []) end(error);
  }

  /** Calls back when the token of a connection is revoked or expires. Returns how to stop that. */
  watch({ tenant, id, expiresMs }: Granted, end: End): () => void {
    const key = `${tenant} ${id}`;
    const ends = this.#open.get(key) ?? new Set();
    this.#open.set(key, ends);
    ends.add(end);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arm = () => {
      if (expiresMs === null) return;
      const leftMs = expiresMs - Date.now();
      if (leftMs <= 0) end(new HeadwaterError("HW-4011", "the token of this connection has expired."));
      else timer = setTimeout(arm, Math.min(leftMs, TIMER_MS_MAX)).unref();
    };
    arm();
    return () => {
      clearTimeout(timer);
      ends.delete(end);
      if (ends.size === 0 && this.#open.get(key) === ends) this.#open.delete(key);
    };
  }
}

function isOver({ expiresMs }: StoredToken): boolean {
  return expiresMs !== null && expiresMs <= Date.now();
}
