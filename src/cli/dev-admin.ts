import type { HostInfo } from "../host/fleet/index.js";

/** The admin API of the program that `headwater dev` runs, as the dashboard uses it. */
export class DevAdmin {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async #ask<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.#url}/headwater/admin/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T & { error?: { message?: string } };
    if (!response.ok) throw new Error(answer.error?.message ?? `HTTP ${response.status}`);
    return answer;
  }

  /** An address of this server that signs the page there in, once. */
  async signedIn(path: string): Promise<string> {
    const { code } = await this.#ask<{ code: string }>("POST", "code", {});
    return `${this.#url}${path}#code=${code}`;
  }

  async hosts(): Promise<readonly HostInfo[] | null> {
    return (await this.#ask<{ hosts: readonly HostInfo[] | null }>("GET", "hosts")).hosts;
  }

  async kill(host: number): Promise<void> {
    await this.#ask("POST", "hosts/kill", { host });
  }

  async busiest(): Promise<{ readonly address: string; readonly host: number | null } | null> {
    const { contexts } = await this.#ask<{ contexts: { address: string; host: number | null }[] }>(
      "GET",
      "busy?limit=1",
    );
    return contexts[0] ?? null;
  }

  async migrate(context: string, host: number): Promise<void> {
    await this.#ask("POST", "migrate", { context, host });
  }

  async setLoad(factor: number): Promise<void> {
    await this.#ask("POST", "load", { factor });
  }
}
