import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ServiceClient } from "headwater/client";
import type { Page } from "playwright-core";
import type { api, Line } from "../../examples/chat.js";
import { packageWith, ROOT, Running } from "../cli/headwater.js";
import { browserFor } from "./chromium.js";

/** Two pages that chat, while the server is killed under them and a page is loaded again. */

const PAGE = `<!doctype html>
<script type="importmap">{"imports": {"headwater/client": "/headwater/client/index.js"}}</script>
<script type="module">
  import { connect } from "headwater/client";
  const lines = [], present = [];
  const at = new URLSearchParams(location.search).get("at");
  const client = connect(at, { backoffMs: 20, backoffMaxMs: 200, timeoutMs: 60000, resume: sessionStorage });
  client.onMessage((news) => { if (news.line) lines.push(news.line); else present.splice(0, 9, ...news.present); });
  Object.assign(globalThis, { client, lines, present });
</script>`;

declare const client: ServiceClient<typeof api>;
declare const lines: Line[];
declare const present: string[];

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

test("two pages chat through a kill of the server and a reload", async (t) => {
  const origin = await webServer(t);
  const folder = packageWith(t, {});
  const started = async (port: string) => {
    const program = join(ROOT, "examples", "chat.ts");
    const places = ["--journal", "data", "--port", port, "--origins", origin];
    const running = new Running(["run", program, ...places, "--json"], folder);
    t.after(() => running.interrupt("SIGKILL"));
    await running.hasWritten('"listening"');
    return { running, url: /http:\/\/127\.0\.0\.1:\d+/.exec(running.stdout)?.[0] ?? "" };
  };
  const first = await started("0");
  const browser = await browserFor(t);
  const open = async (name: string): Promise<Page> => {
    const page = await browser.newPage();
    await page.goto(`${origin}/?at=${encodeURIComponent(first.url)}`);
    await page.waitForFunction("globalThis.client !== undefined");
    await page.evaluate((own) => client.api.enter("rivers", own), name);
    return page;
  };
  const [ada, ben] = [await open("ada"), await open("ben")];
  await ada.waitForFunction(() => present.length === 2);
  await ada.evaluate(() => client.api.say("rivers", "before"));
  await ben.waitForFunction(() => lines.length === 1);

  first.running.interrupt("SIGKILL");
  await first.running.ended;
  const said = ben.evaluate(() => client.api.say("rivers", "during"));
  await started(new URL(first.url).port);
  await said;
  await ada.waitForFunction(() => lines.length === 2);
  assert.deepEqual(await ada.evaluate(() => lines.map(({ text }) => text)), ["before", "during"]);

  const session = await ada.evaluate(() => client.session);
  await ada.reload();
  await ada.waitForFunction("globalThis.client?.state === 'open'");
  assert.equal(await ada.evaluate(() => client.session), session);
  await ada.evaluate(() => client.api.say("rivers", "after")); // without entering again: it is the same session
  await ben.waitForFunction(() => lines.length === 3);
  assert.deepEqual(await ben.evaluate(() => lines.at(-1)), { from: "ada", text: "after" });
});
