import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join, sep } from "node:path";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 120;
const SOURCE = /\.(?:ts|mts|cts|js|mjs|cjs|json|sql)$/;
/** Each watched folder takes a handle of the operating system. Changes in further ones are not noticed. */
const FOLDERS_MAX = 2000;

/**
 * Tells of source files below a folder that were saved or deleted, once for all that are saved together. Returns how to stop. Each folder is
 * watched by itself: on Linux, a recursive watcher of Node loses files that an editor has replaced, which is how many editors save.
 */
export function watchFiles(
  folder: string,
  ignored: readonly string[],
  saved: (file: string) => void,
): () => void {
  const folders = new Map<string, FSWatcher>();
  let quiet: ReturnType<typeof setTimeout> | null = null;
  const isSkipped = (path: string, name: string) =>
    name === "node_modules" ||
    name.startsWith(".") ||
    ignored.some((each) => path === each || path.startsWith(`${each}${sep}`));

  const tell = (file: string) => {
    if (quiet !== null) clearTimeout(quiet);
    quiet = setTimeout(() => saved(file), QUIET_MS);
  };

  /** Watches a folder and those below; tells of the files in it, if it was not there before. */
  const add = (path: string, isNew: boolean) => {
    if (folders.size >= FOLDERS_MAX || folders.has(path)) return;
    const watcher = watch(path, (event, name) => name !== null && heard(event, path, name));
    watcher.on("error", () => drop(path)); // it is gone
    folders.set(path, watcher);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (isSkipped(below, entry.name)) continue;
      if (entry.isDirectory()) add(below, isNew);
      else if (isNew && SOURCE.test(entry.name)) tell(below);
    }
  };

  const drop = (path: string) => {
    for (const [each, watcher] of folders) {
      if (each !== path && !each.startsWith(`${path}${sep}`)) continue;
      watcher.close();
      folders.delete(each);
    }
  };

  const heard = (event: string, path: string, name: string) => {
    const at = join(path, name);
    if (isSkipped(at, name)) return;
    if (SOURCE.test(name)) tell(at);
    if (event !== "rename") return;
    drop(at); // a folder of this name may be another one now
    if (statSync(at, { throwIfNoEntry: false })?.isDirectory() === true) add(at, true);
  };

  add(folder, false);
  return () => {
    drop(folder);
    if (quiet !== null) clearTimeout(quiet);
  };
}
