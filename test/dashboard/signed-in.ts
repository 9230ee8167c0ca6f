import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { TOKEN } from "./served.js";

/** A page of a dashboard that `servedBy` serves, signed in; `problems` are what its scripts have thrown. */
export async function signedIn(t: Pick<TestContext, "after">, browser: Browser, port: number, hash = "") {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  t.after(() => page.close());
  page.setDefaultTimeout(Number(process.env.WAIT ?? 120_000));
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  await page.addInitScript((token) => sessionStorage.setItem("headwater.token", token), TOKEN);
  await page.goto(`http://127.0.0.1:${port}/headwater/${hash}`);
  return { page, problems };
}

/** What the page has asked for since, by the name of the route: how many bytes each answer had. Streams that do not end are left out. */
export function answersTo(page: Page): Map<string, number[]> {
  const answers = new Map<string, number[]>();
  page.on("response", async (response) => {
    const name = /\/admin\/([^?]*)/.exec(response.url())?.[1];
    if (name === undefined || name === "feed" || name.endsWith("/results")) return;
    const body = await response.body().catch(() => null); // the page is closed
    if (body !== null) answers.set(name, [...(answers.get(name) ?? []), body.length]);
  });
  return answers;
}
