import fs, { lstatSync, type PathOrFileDescriptor } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, parse, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { WorkerTask } from "./worker-modules.js";

/**
 * A program reads files while it is loaded: templates, tables, keys. A worker reads them again, later. It finds the same
 * unless a file was written since the process began. Then the worker does not load.
 */

/** The folder that the program was started in. */
export const FOLDER = process.cwd();

/** Reads files from now on only if they are as the program has read them; gives what ends that. */
export function readTheSame({ modules, folder, sinceMs }: WorkerTask): () => void {
  const { readFileSync } = fs;
  // What is written for workers, or by the loader of TypeScript, is new each time, and no file of the program.
  const written = [...modules.map((url) => dirname(fileURLToPath(url))), join(tmpdir(), "tsx-")];
  const read = (path: PathOrFileDescriptor, ...options: unknown[]): unknown => {
    const text = (readFileSync as (...args: unknown[]) => unknown)(path, ...options);
    if (typeof path === "number") throw new Error("a file is read that was opened before");
    const at = resolve(path instanceof URL ? fileURLToPath(path) : String(path));
    if (written.some((each) => at.startsWith(each))) return text;
    if (process.cwd() !== folder) throw new Error("the program has changed its folder");
    for (const each of [at, ...linksOn(at)]) {
      if (lstatSync(each).ctimeMs >= sinceMs) throw new Error(`${each} was changed while the program ran`);
    }
    return text;
  };
  fs.readFileSync = read as typeof readFileSync;
  syncBuiltinESMExports();
  return () => {
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  };
}

/** The links that a path leads through. */
function linksOn(path: string): string[] {
  const links: string[] = [];
  const { root } = parse(path);
  for (let at = dirname(path); at !== root; at = dirname(at))
    if (lstatSync(at).isSymbolicLink()) links.push(at);
  return links;
}
