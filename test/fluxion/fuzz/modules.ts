import { existsSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import vm from "node:vm";
import type { Surroundings } from "./loader.js";

type Namespace = Readonly<Record<string, unknown>>;

/** The part of Node's `vm.Module` that is used here; it is there with `--experimental-vm-modules`. */
interface VmModule {
  readonly status: string;
  readonly namespace: Namespace;
  link(
    linker: (specifier: string, from: { readonly identifier: string }) => Promise<VmModule>,
  ): Promise<void>;
  evaluate(): Promise<void>;
}

interface VmModules {
  readonly SourceTextModule: new (
    text: string,
    options: {
      readonly identifier: string;
      initializeImportMeta(meta: Record<string, unknown>): void;
      importModuleDynamically(specifier: string): Promise<VmModule>;
    },
  ) => VmModule;
  readonly SyntheticModule: new (
    names: readonly string[],
    evaluate: (this: { setExport(name: string, value: unknown): void }) => void,
    options: { readonly identifier: string },
  ) => VmModule;
}

const { SourceTextModule, SyntheticModule } = vm as unknown as VmModules;
/** What stands between these is a type. */
const TYPES = /\/\*<\*\/[\s\S]*?\/\*>\*\//g;
const GLOBALS = "__fuzzed";

/** Types as generated programs have them, taken out. */
export function untyped(code: string): string {
  return code.replace(TYPES, "");
}

/**
 * Loads the ES modules of a program in this process: what they import of their own folder by Node's rules, and once. What they import of
 * CommonJS and JSON files is what `require` gives, as Node has it.
 */
export class ModuleLoader {
  readonly #folder: string;
  readonly #around: Surroundings;
  readonly #modules = new Map<string, VmModule>();

  constructor(folder: string, around: Surroundings) {
    this.#folder = folder;
    this.#around = around;
  }

  async run(entry: string): Promise<void> {
    Object.assign(globalThis, { [GLOBALS]: this.#around.globals });
    await this.#ready(this.#file(entry));
  }

  end(): void {
    Reflect.deleteProperty(globalThis, GLOBALS);
  }

  async #ready(module: VmModule): Promise<VmModule> {
    if (module.status === "unlinked")
      await module.link((specifier, { identifier }) => Promise.resolve(this.#find(specifier, identifier)));
    await module.evaluate();
    return module;
  }

  #find(specifier: string, from: string): VmModule {
    const known = this.#around.modules.get(specifier.replace(/^node:/, ""));
    if (known !== undefined) return this.#given(specifier, known);
    if (isBuiltin(specifier)) return this.#given(specifier, createRequire(from)(specifier));
    const path = specifier.startsWith("file:")
      ? fileURLToPath(specifier)
      : /^[./]/.test(specifier)
        ? fileURLToPath(new URL(specifier, pathToFileURL(from)))
        : createRequire(from).resolve(specifier);
    return this.#file(existing(path));
  }

  #file(path: string): VmModule {
    const isOwn = path.startsWith(this.#folder);
    if (!isOwn || /\.(json|cjs)$/.test(path) || isCommonJs(path))
      return this.#given(path, createRequire(path)(path));
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const text = untyped(this.#around.texts.get(path) ?? readFileSync(path, "utf8"));
    const names = Object.keys(this.#around.globals).join(", ");
    const module = new SourceTextModule(`const { ${names} } = globalThis.${GLOBALS}; ${text}`, {
      identifier: path,
      initializeImportMeta: (meta) => {
        Object.assign(meta, { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) });
      },
      importModuleDynamically: async (specifier) => this.#ready(this.#find(specifier, path)),
    });
    this.#modules.set(path, module);
    return module;
  }

  /** What is not an ES module of the program: its default is what `require` gives. */
  #given(name: string, exports: unknown): VmModule {
    const known = this.#modules.get(name);
    if (known !== undefined) return known;
    const isObject = (typeof exports === "object" && exports !== null) || typeof exports === "function";
    const names = isObject ? Object.keys(exports).filter((each) => each !== "default") : [];
    const module = new SyntheticModule(
      ["default", ...names],
      function () {
        this.setExport("default", exports);
        for (const each of names) this.setExport(each, (exports as Namespace)[each]);
      },
      { identifier: name },
    );
    this.#modules.set(name, module);
    return module;
  }
}

/** TypeScript says `.mjs` where `.mts` is meant. */
function existing(path: string): string {
  return existsSync(path) ? path : path.replace(/\.mjs$/, ".mts");
}

function isCommonJs(path: string): boolean {
  if (!/\.js$/.test(path)) return false;
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    try {
      const { type } = JSON.parse(readFileSync(`${at}/package.json`, "utf8")) as { type?: string };
      return type !== "module";
    } catch {}
  }
  return true;
}
