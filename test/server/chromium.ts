import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";

/** A real browser for tests. */

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

const execute = promisify(execFile);

function found(): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const file of folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))) {
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {}
  }
  return null;
}

/** Where Chromium is. Where it is missing, root gets it from the distribution. */
async function executable(): Promise<string> {
  const there = found();
  if (there !== null) return there;
  if (process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const apt = (...args: string[]) => execute("apt-get", args, { env, maxBuffer: 2 ** 26 });
    const why = await apt("update")
      .then(() => apt("install", "-y", "--no-install-recommends", "chromium"))
      .then(
        () => null,
        (error: Error) => error.message,
      );
    const installed = found();
    if (installed !== null) return installed;
    throw new Error(`there is no Chromium, and apt-get could not install it: ${why}`);
  }
  throw new Error(
    `the tests need a browser: none of ${NAMES.join(", ")} is on the PATH. Install one, on Debian with ` +
      "`apt-get install chromium`.",
  );
}

export async function browserFor(t: TestContext): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: await executable(),
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
