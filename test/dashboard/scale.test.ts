import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { run } from "headwater";
import type { Browser } from "playwright-core";
import { browserFor } from "../server/chromium.js";
import { until } from "../waits.js";
import Forest from "./programs/forest.js";
import { servedBy } from "./served.js";
import { answersTo, signedIn } from "./signed-in.js";

const [WIDE, DEEP] = [10_000, 60];
/** Of one page of a list. */
const ANSWER_BYTES = 70 * 1024;
/** Of all that is asked for every second or two, each. */
const UPDATE_BYTES = 8 * 1024;
const ROWS_MAX = 60;

const closing: (() => unknown)[] = [];
let browser: Browser;
before(async () => {
  browser = await browserFor({ after: (close: unknown) => void closing.push(close as () => unknown) });
});
after(async () => {
  for (const close of closing) await close();
});

test("ten thousand contexts are listed a page at a time, and only the lines in sight are in the page", async (t) => {
  const service = await run(Forest);
  const { port } = await servedBy(t, service);
  await Promise.all(Array.from({ length: WIDE }, (_, i) => service.root.trees(i).grow()));
  await service.root.trees(WIDE - 1).deepen(DEEP);
  const { page, problems } = await signedIn(t, browser, port, "#/contexts");
  const answers = answersTo(page);
  const tree = page.getByRole("tree", { name: "Tree of contexts" });
  const lines = tree.getByRole("treeitem");
  await lines.filter({ hasText: ".trees(0)" }).waitFor();
  await page.evaluate(() => {
    const counted = window as unknown as { added: number };
    counted.added = 0;
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) counted.added += addedNodes.length;
    }).observe(document.body, { childList: true, subtree: true });
  });

  // To the end, and the rest comes as it comes into sight.
  await tree.focus();
  const last = lines.filter({ hasText: `.trees(${WIDE - 1})` });
  while ((await last.count()) === 0) {
    const asked = answers.get("children")?.length ?? 0;
    await page.keyboard.press("End");
    await until(async () => (answers.get("children")?.length ?? 0) > asked || (await last.count()) > 0);
    assert.ok((await lines.count()) <= ROWS_MAX, `${await lines.count()} lines are in the page`);
  }
  const pages = answers.get("children") ?? [];
  assert.ok(pages.length <= WIDE / 500 + 1, `${pages.length} pages were asked for`);
  assert.ok(Math.max(...pages) <= ANSWER_BYTES);
  // Each page of lines takes some elements a line, however many lines there are already.
  const added = await page.evaluate(() => (window as unknown as { added: number }).added);
  assert.ok(added <= (pages.length + 4) * ROWS_MAX * 6, `${added} elements were added`);

  // Down a chain of contexts: a line opened at a time, none of them out of sight for the keyboard.
  await page.keyboard.press("End");
  for (let level = 0; level < DEEP; level++) {
    await page.keyboard.press("ArrowRight");
    await until(async () => (await tree.locator(".active").getAttribute("aria-expanded")) === "true");
    await page.keyboard.press("ArrowDown");
  }
  assert.equal(await tree.locator(".active").getAttribute("aria-level"), String(DEEP + 2));
  await page.keyboard.press("Enter");
  const one = page.getByRole("complementary", { name: "One context" });
  await one.getByText("rings").waitFor();
  assert.match((await one.getByRole("heading").first().textContent()) ?? "", /\.branches\(1\)$/);

  // What is asked for again and again is small, and about the lines in sight alone.
  const looked: number[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/look"))
      looked.push((JSON.parse(request.postData() ?? "{}") as { addresses: string[] }).addresses.length);
  });
  answers.clear();
  await until(() => looked.length >= 2 && (answers.get("busy")?.length ?? 0) >= 2);
  assert.ok(Math.max(...looked) <= ROWS_MAX);
  for (const [name, bytes] of answers) assert.ok(Math.max(...bytes) <= UPDATE_BYTES, `${name}: ${bytes}`);
  assert.deepEqual(problems, []);
});

test("events are asked for by what is new, and wait while a user reads", async (t) => {
  const service = await run(Forest);
  const { port } = await servedBy(t, service);
  const { page, problems } = await signedIn(t, browser, port, "#/events");
  const answers = answersTo(page);
  const asked = () => answers.get("events") ?? [];
  await until(() => asked().length > 0);
  await Promise.all(Array.from({ length: 3000 }, (_, i) => service.root.trees(i).grow()));
  const table = page.getByRole("table", { name: "Events" });
  await until(async () => Number(await table.getAttribute("aria-rowcount")) > 100);
  assert.ok((await table.getByRole("row").count()) <= ROWS_MAX);
  assert.ok(Math.max(...asked()) <= ANSWER_BYTES, String(asked()));
  // Nothing new: next to nothing is sent.
  const before = asked().length;
  await until(() => asked().length >= before + 2);
  assert.ok((asked().at(-1) ?? 0) < 100, String(asked().at(-1)));
  // An event is opened: the list stands still, and says how many have come.
  const first = table.getByRole("row").nth(1);
  await first.getByRole("link").click();
  await page.getByRole("complementary", { name: "One event" }).getByText("committed").waitFor();
  const title = await first.textContent();
  await service.root.trees(1).grow();
  await page.getByRole("button", { name: "1 new" }).waitFor();
  assert.equal(await first.textContent(), title);
  await page.getByRole("button", { name: "1 new" }).click();
  await until(async () => (await first.textContent()) !== title);
  assert.deepEqual(problems, []);
});
