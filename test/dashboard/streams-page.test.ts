import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { Running } from "../cli/headwater.js";
import { browserFor } from "../server/chromium.js";
import { httpReceiver } from "../streams/receivers.js";
import { until } from "../waits.js";
import { figure } from "./figures.js";
import { answersTo } from "./signed-in.js";

interface Started {
  readonly url: string;
  readonly token: string;
  readonly dashboard: string;
}

/** `headwater serve --dashboard`, and its page in a browser. */
async function opened(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  const args = ["serve", "--dashboard", "--private-targets", "--port", "0", "--json"];
  const serve = new Running([...args, "--durability", "written"], folder);
  t.after(async () => {
    serve.interrupt();
    await serve.ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await serve.hasWritten("\n");
  const started = JSON.parse(serve.stdout) as Started;
  const browser = await browserFor(t);
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(started.dashboard);
  await page.getByRole("link", { name: "Streams" }).click();
  const ask = async (method: string, path: string, body: string) => {
    const response = await fetch(`${started.url}/v1/${path}`, {
      ...{ method, body, headers: { authorization: `Bearer ${started.token}` } },
    });
    assert.ok(response.ok, await response.clone().text());
    return response;
  };
  return { page, problems, ask, browser, started };
}

async function register(page: Page, sql: string, name?: string): Promise<void> {
  await page.getByLabel("SQL").last().fill(sql);
  if (name !== undefined) await page.getByLabel("Name of the query").fill(name);
  await page.getByRole("button", { name: "Register", exact: true }).click();
}

test("a stream and a query are registered from the page, which draws them and shows results as they come", async (t) => {
  const { page, problems, ask, browser, started } = await opened(t);
  await register(page, "CREATE STREAM clicks (page text, at timestamp, WATERMARK FOR at AS at)");
  const graph = page.getByRole("region", { name: "Query graph" });
  await graph.getByRole("link", { name: /^clicks/ }).waitFor();
  await register(
    page,
    "SELECT page, window_end, count(*) AS n FROM TUMBLE(clicks, at, INTERVAL '1 second') GROUP BY page, window_start, window_end",
    "counts",
  );
  await graph.getByRole("link", { name: /^counts\s*Async/ }).waitFor();
  const one = page.getByRole("complementary", { name: "One stream" });
  await one.getByText("EXPLAIN").click();
  await until(async () => /a window is held until the watermark/.test((await one.textContent()) ?? ""));
  const rows = one.locator(".results tbody tr");
  assert.equal(await rows.count(), 0);
  const click = (at: number, name = "/home") => `${JSON.stringify({ page: name, at })}\n`;
  await ask(
    "POST",
    "streams/clicks/events",
    [click(1000), click(1500), click(1600, "/shop"), click(2500)].join(""),
  );
  await until(async () => (await rows.count()) === 2);
  assert.deepEqual((await rows.last().textContent())?.startsWith("1/home"), true);
  await ask("POST", "streams/clicks/events", click(1) + click(4000));
  await until(async () => (await rows.count()) === 3);
  await until(async () => /late rows1/.test((await one.textContent()) ?? ""));
  await figure(page, "service");

  // A tenant's own token shows that tenant's streams, and nothing of the service.
  const { token } = (await (await ask("POST", "tokens", '{"scopes":["read"]}')).json()) as { token: string };
  const tenant = await browser.newPage();
  await tenant.goto(`${started.url}/headwater/`);
  await tenant.getByLabel("Token").fill(token);
  await tenant.getByRole("button", { name: "Sign in" }).click();
  await tenant.getByRole("link", { name: /^counts\s*Async/ }).waitFor();
  assert.deepEqual(await tenant.getByRole("navigation").getByRole("link").allTextContents(), ["Streams"]);
  assert.equal(await tenant.getByRole("button", { name: "Register", exact: true }).count(), 0);
  assert.deepEqual(problems, []);
});

test("a dead letter is replayed from the page", async (t) => {
  const { page, problems, ask } = await opened(t);
  let isRefusing = true;
  const receiver = await httpReceiver(t, (_, response) => {
    response.statusCode = isRefusing ? 422 : 200;
    response.end();
  });
  await ask("POST", "sql", '{"sql":"CREATE STREAM orders (n bigint)"}');
  await ask("POST", "outputs", JSON.stringify({ stream: "orders", target: receiver.url, name: "web" }));
  await ask("POST", "streams/orders/events", '{"n":1}\n');
  const replay = page
    .getByRole("table", { name: "Dead letters of web" })
    .getByRole("button", { name: "Replay" });
  await replay.click();
  await until(async () => /HW-5504|was not delivered/.test((await page.textContent("main")) ?? ""));
  isRefusing = false;
  await replay.click();
  await until(async () => (await replay.count()) === 0);
  assert.deepEqual(receiver.received.at(-1)?.numbers, [1]);
  assert.deepEqual(problems, []);
});

test("two hundred queries are drawn and listed, and only the rows in sight are in the page", async (t) => {
  const { page, problems, ask } = await opened(t);
  await ask("POST", "sql", '{"sql":"CREATE STREAM s0 (n bigint)"}');
  for (let i = 1; i <= 200; i++)
    await ask(
      "POST",
      "queries",
      JSON.stringify({ name: `q${i}`, sql: `SELECT n FROM ${i <= 20 ? "s0" : `q${i - 20}`}` }),
    );
  const boxes = page.getByRole("region", { name: "Query graph" }).getByRole("link");
  await until(async () => (await boxes.count()) === 201);
  // While the graph keeps its shape, a look at all of it is some forty bytes for each query.
  const looks = answersTo(page);
  await until(() => (looks.get("streams/default/v1/graph")?.length ?? 0) >= 3);
  const bytes = looks.get("streams/default/v1/graph") ?? [];
  assert.ok(Math.max(...bytes) <= 201 * 60, String(bytes));
  const list = page.getByRole("list", { name: "List of streams and queries" });
  assert.ok((await list.locator(".row").count()) < 60);
  await ask("POST", "streams/s0/events", '{"n":7}\n');
  await page.getByRole("searchbox").fill("q200");
  await list.getByRole("link", { name: "q200" }).click();
  const one = page.getByRole("complementary", { name: "One stream" });
  await until(async () => (await one.locator(".results tbody tr").count()) === 1);
  assert.deepEqual(problems, []);
});
