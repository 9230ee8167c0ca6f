import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";

const FOLDER = new URL("../../docs/screens/", import.meta.url);

/** Pictures of the page for the documentation, light and dark. They are made only if FIGURES is set, so that tests change no files. */
export async function figure(page: Page, name: string): Promise<void> {
  if (process.env.FIGURES === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // What is drawn on canvases is drawn anew in the next frames.
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    );
    writeFileSync(new URL(`${name}-${colorScheme}.png`, FOLDER), await page.screenshot());
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: null });
}
