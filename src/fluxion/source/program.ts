import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, join, resolve, sep } from "node:path";
import { compileFunction } from "node:vm";
import { HeadwaterError, invariant } from "../../errors.js";
import { EFFORT_WITH_PACKAGES, Effort } from "./effort.js";
import { type ModuleFormat, SourceModule } from "./module.js";
import type { Node } from "./syntax.js";

const ENDINGS = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json"];
/** A file without an ending is code, too: `bin/www`. */
const CODE = /(?:\.[cm]?[jt]s|[\\/][^\\/.]+)$/;

/** The files of a program. Packages stay outside, but for the named ones. */
export interface SourceProgram {
  readonly entry: string;
  /** In the order in which they are found from the entry. */
  readonly modules: ReadonlyMap<string, SourceModule>;
  /** Files of data that are loaded, and where that is written first: each of them is one object. */
  readonly data: ReadonlyMap<string, Node>;
  /** Files that cannot be read, and who loads them. Node says so when it comes to that, if it does. */
  readonly broken: readonly Broken[];
  /** The file that a node is in. */
  moduleOf(node: Node): SourceModule;
  /** How much may still be done to find out what it does. */
  readonly effort: Effort;
  /** The text of a file that the program reads; null if there is none. What was decided by it holds as long as it stays that. */
  textAt(path: string): string | null;
  /** All texts that were asked for, by their paths. */
  readonly texts: ReadonlyMap<string, string>;
}

export interface Broken {
  readonly path: string;
  readonly by: SourceModule;
  readonly node: Node;
  readonly reason: string;
}

export interface ReadingOptions {
  /** Packages to be compiled along with the program. */
  readonly packages?: readonly string[];
  /** Texts that are not, or not yet, in files. */
  readonly texts?: ReadonlyMap<string, string>;
  /** How many values may be moved to find out what packages do, before one of them is left out. */
  readonly effort?: number;
}

export function readProgram(entry: string, options: ReadingOptions = {}): SourceProgram {
  const modules = new Map<string, SourceModule>();
  const broken: Broken[] = [];
  const waiting: { readonly path: string; readonly from: Pick<Broken, "by" | "node"> | null }[] = [
    { path: resolve(entry), from: null },
  ];
  for (const { path, from } of waiting) {
    if (modules.has(path) || broken.some((each) => each.path === path)) continue;
    const module = from === null ? moduleAt(path, options) : moduleIfAny(path, options);
    if (typeof module === "string") {
      if (from !== null) broken.push({ path, reason: module, ...from });
      continue;
    }
    modules.set(path, module);
    for (const { specifier, node } of module.loads) {
      const target = ownFile(specifier, path, options);
      if (target === null) continue;
      module.imports.set(specifier, target);
      if (CODE.test(target)) waiting.push({ path: target, from: { by: module, node } });
    }
  }
  const asked = new Map<string, string>();
  return {
    entry: resolve(entry),
    modules,
    data: dataOf(modules.values()),
    broken,
    moduleOf: finderOf(modules.values()),
    effort: new Effort(
      (options.packages ?? []).length > 0
        ? (options.effort ?? EFFORT_WITH_PACKAGES)
        : Number.POSITIVE_INFINITY,
    ),
    texts: asked,
    textAt(path) {
      const known = asked.get(path) ?? options.texts?.get(path) ?? readableText(path);
      if (known !== null) asked.set(path, known);
      return known;
    },
  };
}

function readableText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null; // the program finds that out, too
  }
}

/** Where each file of data is loaded first. */
export function dataOf(modules: Iterable<SourceModule>): Map<string, Node> {
  const data = new Map<string, Node>();
  for (const { loads, imports } of modules) {
    for (const { specifier, node } of loads) {
      const target = imports.get(specifier);
      if (target !== undefined && !CODE.test(target) && !data.has(target)) data.set(target, node);
    }
  }
  return data;
}

function moduleAt(path: string, { texts }: ReadingOptions): SourceModule {
  const text = texts?.get(path) ?? textOf(path);
  return new SourceModule(path, text, formatOf(path, text));
}

/** A file that Node could not load either never runs, and a program may count on that: why it is none. */
function moduleIfAny(path: string, options: ReadingOptions): SourceModule | string {
  try {
    return moduleAt(path, options);
  } catch (error) {
    if (!(error instanceof HeadwaterError) || isLoadable(path, options)) throw error;
    return error.message.replace(/^HW-7001: /, "");
  }
}

/** Node is asked where it can be: what it takes for code must be understood here, too. */
function isLoadable(path: string, { texts }: ReadingOptions): boolean {
  if (!/\.c?js$/.test(path)) return false;
  try {
    const text = texts?.get(path) ?? readFileSync(path, "utf8");
    if (formatOf(path, text) === "module") return false;
    compileFunction(text, ["exports", "require", "module", "__filename", "__dirname"]);
    return true;
  } catch {
    return false;
  }
}

export function finderOf(modules: Iterable<SourceModule>): (node: Node) => SourceModule {
  const found = new Map<Node, SourceModule>();
  for (const module of modules) found.set(module.syntax, module);
  return (node) => {
    let outer = node;
    while (outer.parent) outer = outer.parent;
    const module = found.get(outer);
    invariant(module !== undefined, "every node is in a file");
    return module;
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new HeadwaterError(
      "HW-7001",
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The file that an import means, if it is one of the program's own. */
function ownFile(specifier: string, from: string, { packages = [], texts }: ReadingOptions): string | null {
  if (/^\.{1,2}(\/|$)|^\//.test(specifier)) return fileAt(resolve(dirname(from), specifier), texts);
  if (isBuiltin(specifier)) return null;
  if (specifier.startsWith("#")) return withoutPackages(resolved(specifier, from));
  const named = packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return named ? resolved(specifier, from) : null;
}

/** As Node finds it; null if it does not. */
function resolved(specifier: string, from: string): string | null {
  try {
    return createRequire(from).resolve(specifier);
  } catch {
    return null;
  }
}

function withoutPackages(path: string | null): string | null {
  return path === null || path.split(sep).includes("node_modules") ? null : path;
}

/** What the package.json of a folder says is meant by the folder. */
function mainOf(folder: string): string | null {
  try {
    const { main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { main?: unknown };
    return typeof main === "string" ? main : null;
  } catch {
    return null;
  }
}

function fileAt(path: string, texts: ReadonlyMap<string, string> | undefined): string | null {
  const isFile = (each: string) => texts?.has(each) === true || (existsSync(each) && statSync(each).isFile());
  const typescript = path.replace(/\.([cm]?)js$/, ".$1ts"); // TypeScript says .js where .ts is meant
  const main = mainOf(path);
  const candidates = [
    path,
    ...(typescript === path ? [] : [typescript]),
    ...ENDINGS.map((ending) => path + ending),
    ...(main === null ? [] : ["", ...ENDINGS, "/index.js"].map((ending) => join(path, main) + ending)),
    ...ENDINGS.map((ending) => join(path, `index${ending}`)),
  ];
  return candidates.find(isFile) ?? null;
}

/** As Node decides it: by the ending, else by the nearest package.json, else by what is written in the file. */
function formatOf(path: string, text: string): ModuleFormat {
  const ending = extname(path);
  if (ending === ".mjs" || ending === ".mts") return "module";
  if (ending === ".cjs" || ending === ".cts") return "commonjs";
  const type = packageType(dirname(path));
  if (type !== null) return type;
  return /^\s*(import\s[^(]|import\s*["'{*]|export\s)/m.test(text) ? "module" : "commonjs";
}

function packageType(folder: string): ModuleFormat | null {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, "package.json");
    if (existsSync(file)) {
      try {
        const { type } = JSON.parse(readFileSync(file, "utf8")) as { type?: unknown };
        return type === "module" || type === "commonjs" ? type : null;
      } catch {
        return null;
      }
    }
    if (at === dirname(at) || at.endsWith(`${sep}node_modules`)) return null;
  }
}
