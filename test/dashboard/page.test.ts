import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { Running } from "../cli/headwater.js";
import { browserFor } from "../server/chromium.js";
import { until } from "../waits.js";
import { figure } from "./figures.js";

/** `headwater dev` without a program, as a newcomer starts it, and a browser. */
let [program, dashboard] = ["", ""];
let dev: Running;
let browser: Browser;
const closing: (() => unknown)[] = [];
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  dev = new Running(["dev", "--no-watch", "--port", "0"], folder);
  closing.unshift(async () => {
    dev.interrupt();
    await dev.ended;
  });
  await dev.hasWritten("q quit");
  const addressOf = (what: string) => new RegExp(`${what} +(\\S+)`).exec(dev.stderr)?.[1] ?? "";
  [program, dashboard] = [addressOf("program"), addressOf("dashboard")];
  browser = await browserFor({ after: (close: unknown) => void closing.unshift(close as () => unknown) });
});
after(async () => {
  for (const close of closing) await close();
});

async function opened(address: string) {
  const page = await browser.newPage();
  page.setDefaultTimeout(Number(process.env.WAIT ?? 120_000));
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.goto(address);
  return { page, problems, requested };
}

const view = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Views" }).getByRole("link", { name }).click();

test("the dashboard shows a program that runs: figures, contexts, a migration, and a host that is killed and replaced", async () => {
  const { page, problems, requested } = await opened(dashboard);
  await until(async () => Number(await page.textContent("#events-per-second").catch(() => "0")) > 0);
  assert.equal(new URL(page.url()).hash, "", "the code is no longer in the address");
  await figure(page, "overview");

  await view(page, "Contexts");
  await page.getByRole("searchbox").fill("World.regions(0, 0)");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const one = page.getByRole("complementary", { name: "One context" });
  const migrate = one.getByRole("button", { name: /Migrate to host/ });
  const target = /\d+/.exec((await migrate.textContent()) ?? "")?.[0];
  await migrate.click();
  await until(async () => (await one.locator(".host-mark").textContent()) === `host ${target}`);
  await figure(page, "contexts");

  await view(page, "Hosts");
  const host = page.getByRole("listitem", { name: "Host 0" });
  await host.getByRole("button", { name: "Kill" }).click();
  await until(async () => /replaced once/.test((await host.textContent()) ?? ""));
  await until(async () => /Host 0 lost/.test((await page.locator(".notices").textContent()) ?? ""));
  await figure(page, "hosts");
  // Recovered: events at contexts of that host go on.
  await view(page, "Events");
  const ofHost = page.getByRole("row").filter({ has: page.locator(".host-mark", { hasText: "host 0" }) });
  await ofHost.first().waitFor();

  // One event: what it changed, and the context then and before.
  await page.getByRole("searchbox").fill(").step");
  await page
    .getByRole("row")
    .filter({ hasText: /regions.*step/ })
    .first()
    .getByRole("link")
    .click();
  const event = page.getByRole("complementary", { name: "One event" });
  await event.getByText("committed").waitFor();
  const ticket = /ticket (\d+)/.exec((await event.textContent()) ?? "")?.[1] ?? "";
  // A step leaves one cell and enters another.
  await event.locator("summary", { hasText: "changed" }).last().click();
  const differs = (where: Locator) => where.getByRole("group", { name: "What differs" }).textContent();
  const changed = await differs(event);
  assert.notEqual(changed, "No difference.");
  await figure(page, "events");
  await event.locator(".touched li", { hasText: "changed" }).last().getByRole("link").first().click();
  const travel = page.getByRole("complementary", { name: "One context" });
  await travel.getByRole("button", { name: "Compare" }).click();
  const [now, then] = [travel.getByRole("slider").first(), travel.getByRole("slider").last()];
  await now.fill(ticket);
  await then.fill(ticket);
  await travel.getByText("No difference.").waitFor();
  await travel
    .getByRole("group", { name: "compared with ticket" })
    .getByRole("button", { name: "back" })
    .click();
  await until(async () => (await differs(travel)) === changed);
  await figure(page, "time-travel");
  await travel.getByRole("button", { name: "Compare no more" }).click();
  await travel.getByRole("button", { name: "Now" }).click();
  await travel.locator("output", { hasText: "now" }).waitFor();

  // The sample's events are a stream, and a query over it is registered here.
  await view(page, "Streams");
  await page
    .getByLabel("SQL", { exact: true })
    .fill("SELECT place, method, ticket FROM events WHERE method = 'tick'");
  await page.getByLabel("Name of the query").fill("ticks");
  await page.getByRole("button", { name: "Register", exact: true }).click();
  const rows = page.getByRole("region", { name: "Rows of ticks" }).locator("tbody tr");
  await until(async () => /World\.regions\.cells.*tick/.test((await rows.allTextContents()).join()));
  await figure(page, "streams");

  const elsewhere = requested.filter((url) => new URL(url).origin !== new URL(dashboard).origin);
  assert.deepEqual([problems, elsewhere], [[], []]);
  await page.close();
});

test("on the sample's page entities move, and go on, each in one cell, when a host is killed", async () => {
  const { page, problems } = await opened(program);
  const audits = async () => {
    const text = (await page.textContent("#audit")) ?? "";
    const [, entities, count, violations] =
      /^(\d+) entities.*audited (\d+) times, (\d+) violations/.exec(text) ?? [];
    return { entities: Number(entities), count: Number(count), violations: Number(violations) };
  };
  await until(async () => (await audits()).entities > 0);
  const button = page.getByRole("button", { name: "Kill host 1" });
  await button.click();
  await page.getByRole("status").filter({ hasText: "Host 1 was lost and is replaced." }).waitFor();
  assert.match(dev.stderr, /HW-6009: host 1 /);
  const { count } = await audits();
  await until(async () => (await audits()).count > count + 3);
  assert.equal((await audits()).violations, 0);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Kill", "the focus stays");
  await figure(page, "world");
  assert.deepEqual(problems, []);
});
