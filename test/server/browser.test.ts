import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { run, serve } from "headwater";
import type { ServiceClient } from "headwater/client";
import type { Page } from "playwright-core";
import { browserFor } from "./chromium.js";
import { api, Town } from "./town.js";

/** `headwater/client` in a browser, as ES modules that nobody has bundled. */

const PAGE = `<!doctype html>
<script type="importmap">{"imports": {"headwater/client": "/headwater/client/index.js"}}</script>
<script type="module">
  import { connect, HeadwaterError } from "headwater/client";
  const told = [], missed = [];
  const client = connect(new URLSearchParams(location.search).get("at"), { backoffMs: 20, timeoutMs: 10000 });
  client.onMessage((message) => told.push(message));
  client.onMissed(({ code }) => missed.push(code));
  Object.assign(globalThis, { client, told, missed, HeadwaterError });
</script>`;

/** What the page has put within reach of the tests. */
declare const client: ServiceClient<typeof api>;
declare const told: unknown[];
declare const missed: string[];
declare const location: { readonly search: string };

/** Some web server that has the built package as it is. */
async function webServer(t: TestContext): Promise<string> {
  const dist = new URL("../../dist/", import.meta.url);
  const server = createServer(({ url = "" }, response) => {
    const path = /^\/headwater\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(url)?.[1];
    response.setHeader("content-type", path === undefined ? "text/html" : "text/javascript");
    response.end(path === undefined ? PAGE : readFileSync(new URL(path, dist)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function opened(page: Page, origin: string, at: string): Promise<string[]> {
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  await page.goto(`${origin}/?at=${encodeURIComponent(at)}`);
  await page.waitForFunction("globalThis.client !== undefined");
  return problems;
}

test("a page of a listed origin asks, is told, and comes back after the server was started anew", async (t) => {
  const origin = await webServer(t);
  const browser = await browserFor(t);
  let service = await run(Town);
  let server = await serve(service, api, { origins: [origin] });
  t.after(async () => {
    await server.close();
    await service.stop();
  });
  const page = await browser.newPage();
  const problems = await opened(page, origin, server.url);

  assert.deepEqual(
    await page.evaluate(() => Promise.all([1, 2, 3].map((i) => client.api.bump("ada", i)))),
    [1, 3, 6],
  );
  const kinds = await page.evaluate(async () => {
    const value = new Map<unknown, unknown>([["zwölf", [12n, new Date(0), new Set([undefined])]]]);
    const [key, [count, date, set]] = [...((await client.api.echo(value)) as typeof value)][0] as [
      string,
      [bigint, Date, Set<unknown>],
    ];
    return [key, String(count), date.toISOString(), set.has(undefined)];
  });
  assert.deepEqual(kinds, ["zwölf", "12", "1970-01-01T00:00:00.000Z", true]);
  const failure = await page.evaluate(() =>
    client.api
      .bump("ada", -1)
      .catch((error: Error & { by: number }) => [error.name, error.message, error.by]),
  );
  assert.deepEqual(failure, ["RangeError", "ada only counts up", -1]);
  const unknown = await page.evaluate(() =>
    (client.api as unknown as { nothing(): Promise<never> })
      .nothing()
      .catch((error: Error & { code: string }) => [error.code, error.name]),
  );
  assert.deepEqual(unknown, ["HW-4004", "HeadwaterError"]);

  await page.evaluate(() => client.api.tellMe(3));
  await page.waitForFunction(() => told.length === 3);
  assert.deepEqual(await page.evaluate(() => told), [1, 2, 3]);

  const { port } = server;
  await server.close();
  await service.stop();
  const asked = page.evaluate(() => client.api.bump("ada", 10));
  service = await run(Town);
  server = await serve(service, api, { origins: [origin], port });
  assert.equal(await asked, 10, "the program began anew, and the request has had its effect once");
  await page.evaluate(() => client.api.tellMe(1));
  await page.waitForFunction(() => told.length === 4);
  assert.deepEqual(await page.evaluate(() => [told.at(-1), missed]), [1, ["HW-4016"]]);
  assert.deepEqual(problems, []);

  await t.test("and a page of another origin is refused, over WebSocket and over HTTP", async () => {
    const stranger = await browser.newPage();
    await opened(stranger, (await webServer(t)).replace("127.0.0.1", "localhost"), server.url);
    const viaSocket = await stranger.evaluate(() => {
      const socket = new WebSocket(
        `${new URLSearchParams(location.search).get("at")?.replace("http", "ws")}/socket`,
      );
      return new Promise((resolve) => {
        socket.onopen = () => resolve("open");
        socket.onclose = ({ code }) => resolve(code);
      });
    });
    assert.equal(viaSocket, 1006);
    assert.equal(await stranger.evaluate(() => client.state), "connecting");
    const viaHttp = await stranger.evaluate(async () => {
      const url = `${new URLSearchParams(location.search).get("at")}/api/bump`;
      const headers = { "content-type": "application/json" };
      return fetch(url, { method: "POST", headers, body: '["stranger", 1]' }).then(
        ({ status }) => status,
        (error: Error) => error.name,
      );
    });
    assert.equal(viaHttp, "TypeError", "the browser did not let the page have anything");
    assert.equal(await page.evaluate(() => client.api.read("stranger")), 0);
  });
});
