import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, sep } from "node:path";
import { compileFunction } from "node:vm";

/** What a program finds in place of what Node has: names of modules, and global names. */
export interface Surroundings {
  readonly modules: ReadonlyMap<string, unknown>;
  readonly globals: Readonly<Record<string, unknown>>;
  /** Code that is found in place of what stands in a file. */
  readonly texts: ReadonlyMap<string, string>;
}

interface Internals {
  _extensions: Record<string, (module: NodeJS.Module, path: string) => void>;
  _load(request: string, parent: NodeJS.Module | null, isMain: boolean): unknown;
  _resolveFilename(request: string, parent: NodeJS.Module): string;
  _cache: Record<string, NodeJS.Module | undefined>;
}
const internals = Module as unknown as Internals;

/**
 * Loads a program's CommonJS files with Node's own rules of which file is meant and which is loaded already; only what
 * stands in the files, some modules and some global names are exchanged. Everything in `folder` is forgotten by `end`.
 */
export class Loader {
  readonly #folder: string;
  readonly #around: Surroundings;
  #main: NodeJS.Module | null = null;

  constructor(folder: string, around: Surroundings) {
    this.#folder = folder + sep;
    this.#around = around;
  }

  begin(): void {
    const before = { load: internals._load, js: internals._extensions[".js"] };
    const around = this.#around.modules;
    internals._load = (request, parent, isMain) => {
      const isOwn = parent?.filename?.startsWith(this.#folder) === true;
      const known = isOwn ? around.get(request.replace(/^node:/, "")) : undefined;
      return known ?? before.load.call(Module, request, parent, isMain);
    };
    for (const ending of [".js", ".cjs"]) {
      internals._extensions[ending] = (module, path) => {
        if (path.startsWith(this.#folder)) this.#compile(module, path);
        else before.js?.(module, path);
      };
    }
    this.#restore = () => {
      internals._load = before.load;
      if (before.js) internals._extensions[".js"] = before.js;
      delete internals._extensions[".cjs"];
    };
  }

  run(entry: string): void {
    createRequire(`${this.#folder}nothing.cjs`)(entry);
  }

  /** Files may be loaded as long as the program runs. */
  end(): void {
    this.#restore();
    for (const path of Object.keys(internals._cache))
      if (path.startsWith(this.#folder)) delete internals._cache[path];
  }

  #restore = () => {};

  #compile(module: NodeJS.Module, path: string): void {
    this.#main ??= module;
    const { texts, globals } = this.#around;
    const own = { exports: module.exports, require: this.#requireFor(module), module };
    const all = { ...own, __filename: path, __dirname: dirname(path), ...globals };
    const run = compileFunction(texts.get(path) ?? readFileSync(path, "utf8"), Object.keys(all), {
      filename: path,
    });
    run.apply(module.exports, Object.values(all));
  }

  #requireFor(module: NodeJS.Module): NodeJS.Require {
    const require = (id: string) => module.require(id);
    return Object.assign(require, {
      resolve: (id: string) => internals._resolveFilename(id, module),
      main: this.#main ?? undefined,
      cache: internals._cache,
      extensions: internals._extensions,
    }) as unknown as NodeJS.Require;
  }
}
