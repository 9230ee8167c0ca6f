import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { Running } from "../cli/headwater.js";
import { browserFor } from "../server/chromium.js";
import { until } from "../waits.js";
import { figure } from "./figures.js";

/** `headwater dev` without a program, as a newcomer starts it; returns the addresses that it prints. */
async function sample(t: TestContext): Promise<{ program: string; dashboard: string; dev: Running }> {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  const dev = new Running(["dev", "--no-watch", "--port", "0"], folder);
  t.after(async () => {
    dev.interrupt();
    await dev.ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await dev.hasWritten("q quit");
  const addressOf = (what: string) => new RegExp(`${what} +(\\S+)`).exec(dev.stderr)?.[1] ?? "";
  return { program: addressOf("program"), dashboard: addressOf("dashboard"), dev };
}

function problemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  return problems;
}

test("the dashboard shows a program that runs: figures, contexts, a migration, and a host that is killed and replaced", async (t) => {
  const { dashboard } = await sample(t);
  const browser = await browserFor(t);
  const page = await browser.newPage();
  const problems = problemsOf(page);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.goto(dashboard);
  await until(async () => Number(await page.textContent("#events-per-second").catch(() => "0")) > 0);
  assert.equal(new URL(page.url()).hash, "", "the code is no longer in the address");

  await page.getByRole("link", { name: "Contexts" }).click();
  await page.getByRole("searchbox").fill("World.regions(0, 0)");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const one = page.getByRole("complementary", { name: "One context" });
  const migrate = one.getByRole("button", { name: /Migrate to host/ });
  const target = /\d+/.exec((await migrate.textContent()) ?? "")?.[0];
  await migrate.click();
  await until(async () => (await one.locator(".host-mark").first().textContent()) === target);

  // The slider leads back in time, and the button to the present.
  const slider = one.getByRole("slider");
  const first = (await slider.getAttribute("min")) ?? "";
  await slider.fill(first);
  await one.getByRole("status").filter({ hasText: first }).waitFor();
  await one.getByRole("button", { name: "Now" }).click();
  await figure(page, "dashboard-contexts");

  await page.getByRole("link", { name: "Hosts" }).click();
  const host = page.getByRole("listitem", { name: "Host 0" });
  await host.getByRole("button", { name: "Kill" }).click();
  await until(async () => /replaced once/.test((await host.textContent()) ?? ""));
  await until(async () => /Host 0 lost/.test((await page.locator(".notices").textContent()) ?? ""));

  await page.getByRole("link", { name: "Events" }).click();
  await page.locator(".events button").first().click();
  await page.getByRole("complementary", { name: "One event" }).waitFor();
  // The sample's events are a stream with a standing query over it.
  await page.getByRole("link", { name: "Streams" }).click();
  await page.getByRole("link", { name: "query busiest, Async" }).click();
  const rows = page.getByRole("region", { name: "Rows of busiest" }).locator("tbody tr");
  await until(async () => /World.regions.cells(tick|enter)/.test((await rows.allTextContents()).join()));

  const elsewhere = requested.filter((url) => new URL(url).origin !== new URL(dashboard).origin);
  assert.deepEqual([problems, elsewhere], [[], []]);
});

test("on the sample's page entities move, and go on, each in one cell, when a host is killed", async (t) => {
  const { program, dev } = await sample(t);
  const browser = await browserFor(t);
  const page = await browser.newPage();
  const problems = problemsOf(page);
  await page.goto(program);
  const audits = async () => {
    const text = (await page.textContent("#audit")) ?? "";
    const [, entities, count, violations] =
      /^(\d+) entities.*audited (\d+) times, (\d+) violations/.exec(text) ?? [];
    return { entities: Number(entities), count: Number(count), violations: Number(violations) };
  };
  await until(async () => (await audits()).entities > 0);
  await page.locator("#hosts button").first().click();
  await dev.hasWritten("HW-6009");
  const { count } = await audits();
  await until(async () => (await audits()).count > count + 3);
  assert.equal((await audits()).violations, 0);
  assert.deepEqual(problems, []);
});
