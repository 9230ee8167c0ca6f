import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Context, expose, readonly, run, type ServeOptions, type Server, serve } from "headwater";
import { type ConnectOptions, connect, type ServiceClient } from "headwater/client";
import { Gates } from "../gates.js";

export { until } from "../waits.js";

/** The program that the tests of the server talk to, and ways to start it. */

export const gates = new Gates();

class Counter extends Context<string> {
  count = 0;

  bump(by: number) {
    if (by < 0) throw Object.assign(new RangeError(`${this.key} only counts up`), { by, key: this.key });
    this.count += by;
    return this.count;
  }

  async bumpBehind(gate: string) {
    await gates.pass(gate);
    return this.bump(1);
  }

  @readonly read() {
    return this.count;
  }
}

export class Town extends Context {
  counters = this.children(Counter);
  told = 0;

  echo(value: unknown) {
    return value;
  }

  whoAmI() {
    return this.event.caller;
  }

  /** Sends the caller as many numbered messages as it asks for. */
  tellMe(count: number) {
    for (let i = 0; i < count; i++) this.event.send(String(this.event.caller), ++this.told);
  }

  tell(client: string, message: unknown) {
    this.event.send(client, message);
  }
}

export const api = expose(Town, {
  bump: (town, counter: string, by: number) => town.counters(counter).bump(by),
  bumpBehind: (town, counter: string, gate: string) => town.counters(counter).bumpBehind(gate),
  read: (town, counter: string) => town.counters(counter).read(),
  echo: (town, value: unknown) => town.echo(value),
  whoAmI: (town) => town.whoAmI(),
  tellMe: (town, count: number) => town.tellMe(count),
  tell: (town, client: string, message: unknown) => town.tell(client, message),
});

export type TownClient = ServiceClient<typeof api>;

export interface Running {
  readonly server: Server;
  readonly log: string[];
  client(options?: ConnectOptions & { readonly url?: string }): TownClient;
  post(name: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export interface Reply {
  readonly status: number;
  readonly value: unknown;
  readonly code: string | undefined;
  readonly error: { code?: string; name?: string; message?: string; fields?: unknown } | undefined;
}

/** A program that can be reached; all of it ends with the test. */
export async function started(t: TestContext, options: ServeOptions = {}): Promise<Running> {
  const service = await run(Town);
  const log: string[] = [];
  const server = await serve(service, api, { log: (line) => log.push(line), ...options });
  const clients: TownClient[] = [];
  t.after(async () => {
    for (const client of clients) client.close();
    await server.close();
    await service.stop();
  });
  return {
    server,
    log,
    client: ({ url = server.url, ...rest } = {}) => {
      const client = connect<typeof api>(url, { backoffMs: 1, ...rest });
      clients.push(client);
      return client;
    },
    post: async (name, body, headers = {}) => {
      const response = await fetch(`${server.url}/api/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      return replyOf(response.status, await response.text());
    },
  };
}

export function replyOf(status: number, text: string): Reply {
  const { value, error } = JSON.parse(text) as { value?: unknown; error?: Reply["error"] };
  return { status, value, code: error?.code, error };
}

/**
 * Lets somebody misbehave while an honest client goes on counting, and checks that nothing came of it: no request of
 * the honest client fails or is lost, and the counter "attacked" is where it was.
 */
export async function unharmed(
  t: TestContext,
  options: ServeOptions,
  misbehave: (running: Running) => Promise<void>,
  honest: ConnectOptions = {},
): Promise<void> {
  const running = await started(t, options);
  const client = running.client(honest);
  await client.api.bump("honest", 1);
  let isOver = false;
  const counting = (async () => {
    let count = 1;
    while (!isOver) assert.equal(await client.api.bump("honest", 1), ++count);
    return count;
  })();
  const misbehaviour = misbehave(running).finally(() => {
    isOver = true;
  });
  const [count] = await Promise.all([counting, misbehaviour]);
  assert.equal(await client.api.read("honest"), count);
  assert.equal(await client.api.read("attacked"), 0);
  assert.equal(client.state, "open");
}
