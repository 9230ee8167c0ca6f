import { watch } from "node:fs";
import { join, sep } from "node:path";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 120;
const SOURCE = /\.(?:ts|mts|cts|js|mjs|cjs|json|sql)$/;

/** Tells of source files below a folder that were saved, once for all that are saved together. Returns how to stop. */
export function watchFiles(
  folder: string,
  ignored: readonly string[],
  saved: (file: string) => void,
): () => void {
  let quiet: ReturnType<typeof setTimeout> | null = null;
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name === null || !SOURCE.test(name)) return;
    const parts = name.split(sep);
    if (parts.some((part) => part === "node_modules" || part.startsWith("."))) return;
    const file = join(folder, name);
    if (ignored.some((each) => file === each || file.startsWith(`${each}${sep}`))) return;
    if (quiet !== null) clearTimeout(quiet);
    quiet = setTimeout(() => saved(file), QUIET_MS);
  });
  return () => {
    watcher.close();
    if (quiet !== null) clearTimeout(quiet);
  };
}
