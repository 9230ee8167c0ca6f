import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";

const FOLDER = new URL("../../docs/figures/", import.meta.url);

/** A picture of the page for the documentation. It is written only if FIGURES is set, so that tests change no files. */
export async function figure(page: Page, name: string): Promise<void> {
  const picture = await page.screenshot();
  if (process.env.FIGURES === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${name}.png`, FOLDER), picture);
}
