import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hostsOf, MemoryJournal, run } from "headwater";
import type { Browser, Page } from "playwright-core";
import { EventStream } from "#src/dashboard/event-stream.js";
import { browserFor } from "../server/chromium.js";
import { until } from "../waits.js";
import { audited } from "./audited.js";
import Shop from "./programs/shop.js";
import { servedBy } from "./served.js";
import { signedIn } from "./signed-in.js";

const module = new URL("./programs/shop.ts", import.meta.url).href;

let page: Page;
let browser: Browser;
let problems: string[];
let service: Awaited<ReturnType<typeof started>>;
const closing: (() => unknown)[] = [];
const file = { after: (close: unknown) => void closing.unshift(close as () => unknown) };

const started = () =>
  run(Shop, { hosts: 2, module, journal: new MemoryJournal(), history: 1000, onError: () => {} });

before(async () => {
  service = await started();
  const { port } = await servedBy(file, service, { kill: () => {}, streams: new EventStream(service) });
  browser = await browserFor(file);
  ({ page, problems } = await signedIn(file, browser, port));
  await until(async () => (await page.textContent("#events-per-second").catch(() => null)) !== null);
  for (let i = 0; i < 20; i++) await service.root.shelves(i).put("a book", i);
  await service.root
    .shelves(3)
    .fail()
    .catch(() => {}); // it is to be seen
});
after(async () => {
  for (const close of closing) await close();
});

const view = (name: string) =>
  page.getByRole("navigation", { name: "Views" }).getByRole("link", { name }).click();

/** Moves a context to the other host. */
async function move(shelf: number): Promise<void> {
  const hosts = hostsOf(service);
  const address = `Shop.shelves(${shelf})`;
  await hosts.move(address, 1 - hosts.where(address));
}

describe("every view has names, roles and contrast, in light and dark, wide and narrow", () => {
  test("overview and hosts", async () => {
    await move(1);
    await page.locator(".notices li").first().waitFor();
    await audited(page, "Overview");
    await view("Hosts");
    await page.getByRole("listitem", { name: "Host 0" }).waitFor();
    await audited(page, "Hosts");
  });

  test("contexts, and one compared with its past", async () => {
    await view("Contexts");
    await page.getByRole("treeitem").filter({ hasText: ".shelves(3)" }).click();
    const one = page.getByRole("complementary", { name: "One context" });
    await one.getByRole("button", { name: "Compare" }).click();
    await one.getByRole("group", { name: "What differs" }).waitFor();
    await audited(page, "Contexts");
  });

  test("events, one that committed and one that failed", async () => {
    await view("Events");
    const of = (method: string) =>
      page.getByRole("row").filter({ hasText: method }).first().getByRole("link");
    await of("put").click();
    await page.locator("summary", { hasText: "changed" }).click();
    await page.getByRole("group", { name: "What differs" }).waitFor();
    await audited(page, "Events");
    await of("fail").click();
    await page.locator(".stack", { hasText: "shop.ts" }).waitFor();
    await audited(page, "A failed event");
  });

  test("streams", async () => {
    await view("Streams");
    await page
      .getByRole("region", { name: "Query graph" })
      .getByRole("link", { name: /^failures\s*Seal/ })
      .click();
    await page.getByText("EXPLAIN", { exact: true }).click();
    await service.root
      .shelves(4)
      .fail()
      .catch(() => {});
    await page.getByRole("region", { name: "Rows of failures" }).locator("tbody tr").first().waitFor();
    await audited(page, "Streams");
  });
});

/** What has the focus: its name, and whether that can be seen. */
const focused = () =>
  page.evaluate(() => {
    const at = document.activeElement as HTMLElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    const inBox = document.querySelector(
      `#${CSS.escape(at.getAttribute("aria-activedescendant") ?? "none")}`,
    );
    const box = at.getBoundingClientRect();
    return {
      name: at.getAttribute("aria-label") ?? at.textContent ?? "",
      tag: at.tagName,
      isSeen: (outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2) || inBox !== null,
      isInSight: box.width > 0 && box.bottom > 0 && box.top < window.innerHeight,
    };
  });

test("each view is walked by Tab: every control is reached, in sight and marked, and none keeps the focus", async () => {
  for (const name of ["Hosts", "Contexts", "Events", "Streams", "Overview"]) {
    await view(name);
    await page.waitForTimeout(0);
    const wanted = await page.evaluate(() => {
      const all = document.querySelectorAll<HTMLElement>(
        "main :is(a[href], button:not(:disabled), input, select, textarea, summary, [tabindex='0'])",
      );
      return Array.from(all).filter((each) => each.checkVisibility()).length;
    });
    await page.locator("main").focus();
    const seen: string[] = [];
    for (let i = 0; i < wanted; i++) {
      await page.keyboard.press("Tab");
      const at = await focused();
      if (at.tag === "BODY") break;
      assert.ok(at.isSeen && at.isInSight, `${name}: ${JSON.stringify(at)}`);
      assert.notEqual(
        at.name === "" && !["INPUT", "TEXTAREA", "SELECT"].includes(at.tag),
        true,
        `${name}: no name`,
      );
      seen.push(at.name);
    }
    assert.ok(seen.length >= Math.min(wanted, 2), `${name}: ${seen.length} of ${wanted} were reached`);
  }
});

let moved = "";

test("without a mouse: from the top of the page to a context's state, and on to a migration", async () => {
  await view("Contexts");
  await page.getByRole("searchbox").focus();
  const tree = page.getByRole("tree", { name: "Tree of contexts" });
  while (!(await tree.evaluate((element) => element === document.activeElement)))
    await page.keyboard.press("Tab");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const one = page.getByRole("complementary", { name: "One context" });
  moved = (await one.getByRole("heading", { level: 2 }).textContent()) ?? "";
  assert.match(moved, /^Shop\./);
  const migrate = one.getByRole("button", { name: /Migrate to host/ });
  const target = /\d+/.exec((await migrate.textContent()) ?? "")?.[0];
  while (!(await migrate.evaluate((element) => element === document.activeElement)))
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until(async () => (await one.locator(".host-mark").textContent()) === `host ${target}`);
});

test("a screen reader hears of what happens, and not of figures that change all the time", async () => {
  await view("Overview");
  await page.getByRole("status", { name: "News" }).filter({ hasText: moved }).waitFor();
  await page.evaluate(() => {
    const heard: string[] = [];
    (window as unknown as { heard: string[] }).heard = heard;
    for (const live of Array.from(document.querySelectorAll("[role=status], [aria-live], output")))
      new MutationObserver(() => heard.push(live.textContent ?? "")).observe(live, {
        ...{ childList: true, characterData: true, subtree: true },
      });
  });
  const heard = () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  const figure = page.locator("#events-per-second");
  for (let i = 0; i < 3; i++) {
    const before = await figure.textContent();
    for (let n = 0; n < 7 + 5 * i; n++) await service.root.shelves(n).put("a pen", n);
    await until(async () => (await figure.textContent()) !== before);
  }
  assert.deepEqual(await heard(), []);
  for (let i = 0; i < 12; i++) await move(i);
  await until(async () => (await heard()).length > 0);
  const news = await heard();
  assert.match(news.join("\n"), /Shop\.shelves\(\d+\) has moved/);
  assert.ok(news.length <= 2, news.join("\n"));
  assert.deepEqual(problems, []);
});
