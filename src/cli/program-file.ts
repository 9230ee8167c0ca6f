import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../errors.js";

/** TypeScript first: where both stand side by side, the other one was made from it. */
const ENDINGS = [".ts", ".mts", ".js", ".mjs"];
/** The programs that come with the package can be named from any folder: `examples/bank`. */
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const APP_ENDINGS = [...ENDINGS, ".cts", ".cjs"];

/** The file that a program of contexts is in. */
export function findProgram(name: string, folder: string): string {
  const file = find(name, folder, ENDINGS);
  refuseCommonJs(file);
  return file;
}

/** The file that any program of Node begins with. Node takes a name without an ending for code, too: `bin/www`. */
export function findApp(name: string, folder: string): string {
  return find(name, folder, [...APP_ENDINGS, ""]);
}

/**
 * The file that a name stands for: itself, with an ending, or a folder's index, in this folder or else among the examples of the package.
 * Links are followed, so that a file has one name however it was reached.
 */
function find(name: string, folder: string, endings: readonly string[]): string {
  const paths = [resolve(folder, name), ...(/^examples[\\/]/.test(name) ? [resolve(PACKAGE, name)] : [])];
  const tried = paths.flatMap((path) => [
    path,
    ...endings.map((ending) => path + ending),
    ...endings.map((ending) => join(path, `index${ending}`)),
  ]);
  const shown = endings.filter((ending) => ending !== "").join(", ");
  const found = tried.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  if (found === undefined) {
    throw new HeadwaterError(
      "HW-2004",
      `There is no program "${name}" in ${folder}. Looked for the file itself, then with the ending ` +
        `${shown}, then for an index file in a folder of that name.`,
    );
  }
  if (!endings.includes(extname(found))) {
    throw new HeadwaterError("HW-2002", `${found} is not a program: its name ends in none of ${shown}.`);
  }
  return realpathSync(found);
}

/**
 * A CommonJS program would get a second copy of Headwater, translated for it, whose classes are not the ones
 * that the runtime compares with. It is refused here, where the cure can be named.
 */
function refuseCommonJs(file: string): void {
  if (extname(file).startsWith(".m")) return;
  const manifest = nearestManifest(dirname(file));
  if (manifest?.type === "module") return;
  const where =
    manifest === null ? "no package.json stands beside or above it" : `${manifest.path} does not say so`;
  throw new HeadwaterError(
    "HW-2002",
    `${file} is not an ES module: ${where}. Put "type": "module" into package.json, or let the file's name end ` +
      `in .m${extname(file).slice(1)}.`,
  );
}

function nearestManifest(folder: string): { path: string; type: unknown } | null {
  const path = join(folder, "package.json");
  if (existsSync(path)) {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    const type =
      typeof manifest === "object" && manifest !== null && "type" in manifest ? manifest.type : undefined;
    return { path, type };
  }
  return dirname(folder) === folder ? null : nearestManifest(dirname(folder));
}
