import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Builds the dashboard's page into `dist/page`, unless the one there is newer than all of its sources. */

const root = fileURLToPath(new URL("../dashboard/", import.meta.url));
const page = fileURLToPath(new URL("../dist/page/index.html", import.meta.url));

const changedMs = Math.max(
  statSync(fileURLToPath(new URL("../package-lock.json", import.meta.url))).mtimeMs,
  ...readdirSync(root, { recursive: true }).map((name) => statSync(`${root}${name}`).mtimeMs),
);
const builtMs = statSync(page, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (builtMs < changedMs) {
  const { build } = await import("vite");
  await build({ root, configFile: `${root}vite.config.ts`, logLevel: "warn" });
}
