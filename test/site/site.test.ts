import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join, posix } from "node:path";
import { after, before, test } from "node:test";
import { apiPages } from "../../scripts/site/api-pages.js";
import { buildSite } from "../../scripts/site/build.js";
import { filesIn } from "../house/source.js";
import { browserFor } from "../server/chromium.js";
import { serveFiles } from "./serve-files.js";

/** The documentation as a web site. */

const folder = mkdtempSync(join(tmpdir(), "headwater-site-"));
before(() => void buildSite(folder));
after(() => rmSync(folder, { recursive: true, force: true }));

const pages = () =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => extname(name) === ".html")
    .map((path) => ({ path, html: readFileSync(join(folder, path), "utf8") }));

const attributes = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value ?? "");

test("the API reference is that of the package's declarations (npm run api writes it anew)", () => {
  const written = new Map(
    filesIn(["docs/api"], [".md"]).map(({ path, text }) => [posix.basename(path), text]),
  );
  assert.deepEqual([...written].sort(), [...apiPages()].sort());
});

test("every link of the site leads to a page, and to a heading of it", () => {
  const all = new Map(pages().map(({ path, html }) => [path, new Set(attributes(html, "id"))]));
  const wrong: string[] = [];
  for (const { path, html } of pages()) {
    for (const target of [...attributes(html, "href"), ...attributes(html, "src")]) {
      if (/^(https?|data|mailto):/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const to = file === "" ? path : posix.join(dirname(path), decodeURI(file));
      if (!existsSync(join(folder, to))) wrong.push(`${path}: ${target}`);
      else if (anchor !== undefined && anchor !== "code" && !all.get(to)?.has(decodeURI(anchor)))
        wrong.push(`${path}: ${target}: no such heading`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("a page is found by keyboard, on a narrow screen and in the dark, and nothing comes from elsewhere", async (t) => {
  const { url, close } = await serveFiles(folder);
  t.after(close);
  const browser = await browserFor(t);
  const page = await browser.newPage({ viewport: { width: 400, height: 800 }, colorScheme: "dark" });
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) problems.push(request.url());
  });
  await page.goto(`${url}/tutorial/06-timers.html`);
  await page.keyboard.press("/");
  await page.keyboard.type("a context is downgraded");
  await page.locator("#found a").first().waitFor();
  for (let i = 0; i < "a context is downgraded".length; i++) await page.keyboard.press("Backspace");
  await page.keyboard.type("outside calls");
  await page.locator("#found a", { hasText: "Outside calls" }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/outside.html*");
  const isCutOff = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  assert.equal(isCutOff, false, "the page is wider than the screen");
  assert.deepEqual(problems, []);
});
