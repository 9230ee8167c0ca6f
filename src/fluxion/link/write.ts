import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { HeadwaterError } from "../../errors.js";
import type { Compilation } from "../compile.js";
import type { Generated } from "../pipeline.js";
import type { SourceModule } from "../source/index.js";
import { link } from "./link.js";

export interface Written {
  readonly entry: string;
  readonly files: readonly string[];
}

/** A folder with the compiled program, which plain `node` runs. */
export function writeProgram(compilation: Compilation, out: string): Written {
  const { program } = compilation;
  const folder = resolve(out);
  const sources = [...program.modules.values()];
  const loaded = sources
    .flatMap(({ imports }) => [...imports.values()])
    .filter((path) => !program.modules.has(path));
  loaded.push(...sources.flatMap(manifestsNeeded));
  const root = commonFolder([...program.modules.keys(), ...loaded]);
  if (root === folder) {
    throw new HeadwaterError("HW-7001", `${out} has the program itself; choose another folder`);
  }
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, "manifest.json"))) {
    throw new HeadwaterError("HW-7001", `${out} is not empty, and not a program that was compiled before`);
  }
  const target = (path: string) => join(folder, relative(root, path));
  const linked = link(compilation, {
    runtime: runtimeFrom(program.entry),
    place: { worker: folder, file: target },
    install: true,
  });
  const files: string[] = [];
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    files.push(relative(folder, path));
  };
  for (const { path, text } of sources) {
    const changed = linked.files.get(path);
    write(target(path), changed === undefined ? text : withMap(changed));
  }
  for (const path of new Set([...loaded, ...manifestsBelow(root, sources)])) {
    mkdirSync(dirname(target(path)), { recursive: true });
    copyFileSync(path, target(path));
    files.push(relative(folder, target(path)));
  }
  for (const [name, generated] of linked.workers) write(join(folder, name), withMap(generated));
  write(join(folder, "manifest.json"), JSON.stringify(linked.manifest, null, 1));
  keepFormat(root, folder, write);
  keepPackages(program.entry, folder);
  return { entry: target(program.entry), files };
}

export function withMap({ code, map }: Generated): string {
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}\n`;
}

/** By its name where the program has it among its packages, else by its path. */
function runtimeFrom(entry: string): string {
  const isInstalled = [...ancestors(dirname(entry))].some((at) =>
    existsSync(join(at, "node_modules", "headwater", "package.json")),
  );
  return isInstalled ? "headwater/fluxion/runtime" : new URL("../runtime/index.js", import.meta.url).href;
}

function commonFolder(paths: readonly string[]): string {
  let [folder = sep] = paths.map((path) => dirname(path));
  while (!paths.every((path) => path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`))) {
    folder = dirname(folder);
  }
  return folder;
}

/** Files that say what a name means: of the folder that is loaded by its name, and of the `#names` of a package. */
function manifestsNeeded({ path, imports }: SourceModule): string[] {
  if (isOfPackage(path)) return [];
  return [...imports.keys()].flatMap((specifier) => {
    const isFolder = /^[./]/.test(specifier);
    if (!isFolder && !specifier.startsWith("#")) return [];
    const folders = isFolder ? [resolve(dirname(path), specifier)] : [...ancestors(dirname(path))];
    return folders
      .map((at) => join(at, "package.json"))
      .filter((each) => existsSync(each))
      .slice(0, 1);
  });
}

/** Those of the folders in between, which say what `.js` is there. */
function manifestsBelow(root: string, sources: readonly SourceModule[]): string[] {
  return sources
    .filter(({ path }) => !isOfPackage(path))
    .flatMap(({ path }) => [...ancestors(dirname(path))].filter((at) => at.length > root.length))
    .map((at) => join(at, "package.json"))
    .filter((path) => existsSync(path));
}

function isOfPackage(path: string): boolean {
  return path.split(sep).includes("node_modules");
}

/** Whether `.js` is CommonJS is up to the nearest package.json; what names mean, to that of the same folder. */
function keepFormat(root: string, folder: string, write: (path: string, text: string) => void): void {
  for (let at = root; ; at = dirname(at)) {
    const manifest = join(at, "package.json");
    if (existsSync(manifest)) {
      const { type, main, imports } = createRequire(manifest)(manifest) as Record<string, unknown>;
      const names = at === root ? { main, imports } : {};
      write(join(folder, "package.json"), JSON.stringify({ private: true, type, ...names }));
      return;
    }
    if (at === dirname(at)) return;
  }
}

/** A folder elsewhere finds the program's packages through a link. */
function keepPackages(entry: string, folder: string): void {
  const packages = [...ancestors(dirname(entry))]
    .map((at) => join(at, "node_modules"))
    .find((at) => existsSync(at));
  if (packages === undefined || folder.startsWith(dirname(packages) + sep)) return;
  const link = join(folder, basename(packages));
  if (!existsSync(link)) symlinkSync(packages, link, "dir");
}

function* ancestors(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (at === dirname(at)) return;
  }
}
