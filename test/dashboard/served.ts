import { once } from "node:events";
import { request as ask, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { DashboardOptions } from "#src/dashboard/dashboard.js";
import { Dashboard } from "#src/dashboard/index.js";
import type { AnyService } from "#src/host/service.js";

export const TOKEN = "a-token-that-only-the-test-knows";

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A program with its dashboard, and a way to ask it anything with any headers, as no browser would. */
export async function servedBy(
  t: Pick<TestContext, "after">,
  service: AnyService,
  options: Partial<DashboardOptions> = {},
) {
  const dashboard = new Dashboard(service, {
    program: "shop.ts",
    journal: null,
    startedAtMs: 0,
    kill: null,
    load: { factor: 1 },
    token: TOKEN,
    isLocal: true,
    ...options,
  });
  const server = createServer((request, response) => {
    if (!dashboard.handle(request, response)) response.writeHead(404).end("elsewhere");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    await dashboard.close();
    server.closeAllConnections();
    server.close();
    await service.stop();
  });
  const { port } = server.address() as AddressInfo;
  const send = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const sent = ask({
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: { host: `127.0.0.1:${port}`, ...headers },
      });
      sent.on("error", reject).on("response", async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers });
      });
      sent.end(body);
    });
  return { dashboard, port, send };
}

export const SIGNED = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
