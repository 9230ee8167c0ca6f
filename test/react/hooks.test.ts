import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ServiceClient } from "headwater/client";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { api } from "../../examples/chat.js";
import { packageWith, ROOT, Running } from "../cli/headwater.js";
import { browserFor } from "../server/chromium.js";

/** `headwater/react` in a page that Vite has built, in a real browser. */

declare const client: ServiceClient<typeof api>;

const lines = (page: Page) => page.locator("li").allTextContents();
const shows = (page: Page, what: string) =>
  page.waitForFunction(
    (text) => [...document.querySelectorAll("li")].map((each) => each.textContent).join() === text,
    what,
  );
declare const document: { querySelectorAll(what: string): Iterable<{ readonly textContent: string }> };

test("components show what a method returns, as it changes, over a kill of the server", async (t) => {
  const folder = packageWith(t, {});
  const dist = join(folder, "page");
  const root = fileURLToPath(new URL("./page/", import.meta.url));
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic" } },
    build: { outDir: dist, emptyOutDir: true, target: "es2022", reportCompressedSize: false },
  });
  const started = async (port: string) => {
    const program = join(ROOT, "examples", "chat.ts");
    const running = new Running(
      ["run", program, "--journal", "data", "--static", dist, "--port", port, "--json"],
      folder,
    );
    t.after(() => running.interrupt("SIGKILL"));
    await running.hasWritten('"listening"');
    return { running, url: /http:\/\/127\.0\.0\.1:\d+/.exec(running.stdout)?.[0] ?? "" };
  };
  const first = await started("0");
  const browser = await browserFor(t);
  const problems: string[] = [];
  const open = async (name: string) => {
    const page = await browser.newPage();
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("console", (message) => {
      if (message.type() === "error" && !/WebSocket|ERR_/.test(message.text())) problems.push(message.text());
    });
    await page.goto(first.url);
    await page.waitForSelector("ol[data-live=true]", { state: "attached" });
    await page.evaluate((own) => client.api.enter("rivers", own), name);
    return page;
  };
  const [ada, ben] = [await open("ada"), await open("ben")];
  await ada.evaluate(() => client.api.say("rivers", "Elbe"));
  for (const page of [ada, ben]) await shows(page, "ada: Elbe");
  assert.equal(await ada.getAttribute("ol", "data-same"), "true");

  await ada.click("button"); // other arguments: another room
  await shows(ada, "");
  await ada.click("button");
  await shows(ada, "ada: Elbe");

  first.running.interrupt("SIGKILL");
  await first.running.ended;
  await ada.waitForSelector("ol[data-live=false]", { state: "attached" });
  assert.deepEqual(await lines(ada), ["ada: Elbe"]); // what is known stays
  // It enters again: a session that stays away for longer leaves its room.
  const said = ben.evaluate(async () => {
    await client.api.enter("rivers", "ben");
    await client.api.say("rivers", "Oder");
  });
  await started(new URL(first.url).port);
  await said;
  await ada.waitForSelector("ol[data-live=true]", { state: "attached" });
  for (const page of [ada, ben]) await shows(page, "ada: Elbe,ben: Oder");
  assert.equal(await ada.textContent("#connection"), "open");
  assert.ok(Number(await ada.textContent("#messages")) >= 2);
  assert.deepEqual(problems, []);
});
