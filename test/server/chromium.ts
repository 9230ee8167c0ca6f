import type { TestContext } from "node:test";
import { type Browser, chromium } from "playwright-core";
import { needed } from "../needed.js";

/** A real browser for tests. */

export async function browserFor(t: Pick<TestContext, "after">): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: await needed(["chromium", "chromium-browser", "google-chrome"], "chromium"),
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
  t.after(() => browser.close());
  return browser;
}
