import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** axe asks whether these are so as far as a machine can tell; text over a picture and the like are not here. */
const SCHEMES = ["light", "dark"] as const;
const WIDTHS = [1280, 390] as const;

/** What axe finds wrong with the page as it is rendered, in both colour schemes and on a wide and a narrow screen. */
export async function audited(page: Page, view: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.evaluate(axe.source);
  for (const colorScheme of SCHEMES)
    for (const width of WIDTHS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const found = await page.evaluate(async (rules) => {
        const { axe: here } = window as unknown as { axe: typeof axe };
        const { violations, passes } = await here.run(document, { runOnly: { type: "tag", values: rules } });
        return {
          violations: violations.flatMap(({ id, nodes }) =>
            nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
          ),
          contrasts: passes.find(({ id }) => id === "color-contrast")?.nodes.length ?? 0,
          overflow: document.documentElement.scrollWidth - window.innerWidth,
        };
      }, RULES);
      assert.deepEqual(found.violations, [], `${view}, ${colorScheme}, ${width} pixels wide`);
      assert.ok(found.contrasts > 0, `${view}: no contrast was measured`);
      assert.ok(found.overflow <= 0, `${view} is wider than ${width} pixels`);
    }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
}
