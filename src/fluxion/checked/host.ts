import Module, { isBuiltin } from "node:module";
import type { HostFacts } from "./facts.js";
import { withGuards } from "./guards.js";
import { refusing } from "./replaced.js";
import { MODE, watch } from "./watch.js";

/** What Node brings along, in a thread that watches calls; and files are loaded with guards. */

const OF_LANGUAGE =
  /^(Object|Function|Array|Number|parseFloat|parseInt|Infinity|NaN|undefined|Boolean|String|Symbol|Date|Promise|RegExp|\w*Error|globalThis|global|JSON|Math|Intl|\w*Array|\w*ArrayBuffer|DataView|Map|BigInt|Set|WeakMap|WeakSet|WeakRef|Proxy|Reflect|FinalizationRegistry|Atomics|WebAssembly|Iterator|(de|en)codeURI(Component)?|escape|unescape|isFinite|isNaN|Buffer|URL|URLSearchParams|TextEncoder|TextDecoder|atob|btoa)$/;
/** Modules of Node that only compute, or whose objects are asked for. */
const FREE =
  /^(path|path\/posix|path\/win32|url|querystring|string_decoder|buffer|events|punycode|constants)$/;
const COMPUTING =
  /^(util\.(inspect|format|isDeepStrictEqual|types\.\w+|is[A-Z]\w*|stripVTControlCharacters|toUSVString)|crypto\.(createHash|createHmac|timingSafeEqual|pbkdf2Sync|scryptSync|hkdfSync|getHashes)|zlib\.\w+Sync|assert(\.[a-z]\w*)*)$/;
/** Besides, what gives the same to every thread while it loads. */
const LOADING =
  /^(util\.(inherits|promisify|debuglog|callbackify)|fs\.readFileSync|os\.(platform|type|arch|endianness)|module\.createRequire)$/;

function allows(path: string): boolean {
  return COMPUTING.test(path) || (watch.mode === MODE.loading && LOADING.test(path));
}

const { Proxy: RealProxy, eval: evaluate } = globalThis;

interface Internals {
  _load(request: string, parent: NodeJS.Module | null, isMain: boolean): unknown;
  _resolveFilename(request: string, parent: NodeJS.Module | null): string;
  _cache: Record<string, unknown>;
  _extensions: Record<string, unknown>;
  readonly prototype: { _compile(content: string, path: string, ...more: unknown[]): unknown };
}
const internals = Module as unknown as Internals;

export function watchHost(facts: HostFacts): void {
  const own = processFor(facts);
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!OF_LANGUAGE.test(name)) globalName(name, own);
  modules(own);
  generated();
}

function globalName(name: string, own: NodeJS.Process): void {
  const field = Object.getOwnPropertyDescriptor(globalThis, name);
  if (field === undefined || field.configurable === false) return;
  const original = () =>
    field.get === undefined ? (field.value as unknown) : Reflect.apply(field.get, globalThis, []);
  if (name === "process") return define(name, () => own);
  if (name === "eval")
    return define(name, () => refusing(Reflect.get(field, "value") as object, name, () => false));
  let made: unknown;
  define(name, () => {
    const value: unknown = made ?? original();
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
    if (!isObject) return value;
    made ??= refusing(value as object, name, () => false);
    return made;
  });
}

function define(name: string, get: () => unknown): void {
  const { enumerable = false } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable,
    get,
    set: () => watch.deny(`changes ${name}`),
  });
}

const CONSTANT = new Set<PropertyKey>("platform version versions arch release features pid title".split(" "));

function processFor({ argv, streams }: HostFacts): NodeJS.Process {
  const { env } = process;
  const environment = new RealProxy(env, {
    get: (_, key) => {
      if (watch.mode >= MODE.again) watch.deny("asks for the environment");
      return Reflect.get(env, key) as unknown;
    },
    has: (_, key) => {
      if (watch.mode >= MODE.again) watch.deny("asks for the environment");
      return Reflect.has(env, key);
    },
    ownKeys: () => {
      if (watch.mode >= MODE.again) watch.deny("asks for the environment");
      return Reflect.ownKeys(env);
    },
    set: (_, key, value) => {
      watch.deny("changes the environment");
      return Reflect.set(env, key, value);
    },
    deleteProperty: (_, key) => {
      watch.deny("changes the environment");
      return Reflect.deleteProperty(env, key);
    },
  });
  return new RealProxy(process, {
    get: (of, key) => {
      const value: unknown = Reflect.get(of, key);
      if (watch.mode === MODE.idle || CONSTANT.has(key) || !(key in of)) return value;
      if (watch.mode === MODE.loading) {
        if (key === "env") return environment;
        if (key === "argv") return argv.slice();
        if (key === "cwd" || key === "exitCode") return value;
        if (typeof key === "string" && streams[key] !== undefined) return streamOf(key, streams[key]);
      }
      watch.deny(`asks for process.${String(key)}`);
      return value;
    },
    set: (of, key, value) => {
      watch.deny("changes process");
      return Reflect.set(of, key, value);
    },
    defineProperty: (of, key, field) => {
      watch.deny("changes process");
      return Reflect.defineProperty(of, key, field);
    },
    deleteProperty: (of, key) => {
      watch.deny("changes process");
      return Reflect.deleteProperty(of, key);
    },
  });
}

function streamOf(name: string, known: Readonly<Record<string, unknown>>): object {
  return new RealProxy(
    {},
    {
      get: (_, key) => {
        if (typeof key === "string" && key in known) return known[key];
        watch.deny(`asks for process.${name}.${String(key)}`);
        return undefined;
      },
      set: () => {
        watch.deny(`changes process.${name}`);
        return false;
      },
    },
  );
}

function modules(own: NodeJS.Process): void {
  const { _load: load } = internals;
  const known: Record<string, unknown> = {};
  internals._load = (request, parent, isMain) => {
    if (watch.mode === MODE.idle) return load.call(Module, request, parent, isMain);
    const name = request.replace(/^node:/, "");
    if (isBuiltin(request)) {
      if (name === "process") return own;
      const value = load.call(Module, request, parent, isMain);
      if (FREE.test(name)) return value;
      known[name] ??= refusing(value as object, name, allows);
      return known[name];
    }
    if (watch.mode >= MODE.again && !(internals._resolveFilename(request, parent) in internals._cache))
      watch.lasts(`the list of modules, with ${request}`);
    return load.call(Module, request, parent, isMain);
  };
  const { _compile: compile } = internals.prototype;
  internals.prototype._compile = function (content, path, ...more) {
    const format = more.includes("module") ? "module" : "commonjs";
    return compile.call(
      this,
      watch.mode === MODE.idle ? content : guarded(path, content, format),
      path,
      ...more,
    );
  };
  internals._extensions[".node"] = () => watch.deny("loads native code");
}

/** Read in peace, whatever the thread is doing. A text that cannot be read fails the call, also if the package makes do without it. */
function guarded(path: string, text: string, format: Parameters<typeof withGuards>[2] = "commonjs"): string {
  const { mode } = watch;
  watch.enter(MODE.idle);
  try {
    return withGuards(path, text, format);
  } catch (error) {
    watch.enter(mode);
    watch.deny(
      `has code that no guards can be put into: ${error instanceof Error ? error.message : String(error)}`,
    );
    return text;
  } finally {
    watch.enter(mode);
  }
}

/** What is made of a text gets guards as files do. */
function generated(): void {
  const Real = Function;
  const make = (args: readonly unknown[]): unknown => {
    const texts = args.map(String);
    Real(...texts); // throws for what is no function
    if (watch.mode === MODE.idle) return Real(...texts);
    const text = `(function anonymous(${texts.slice(0, -1).join()}\n) {\n${texts.at(-1) ?? ""}\n})`;
    return evaluate(guarded("generated.js", text));
  };
  const own = new RealProxy(Real, {
    apply: (_, __, args: unknown[]) => make(args),
    construct: (_, args: unknown[]) => make(args) as object,
  });
  Object.defineProperty(Real.prototype, "constructor", { configurable: true, writable: true, value: own });
  Object.defineProperty(globalThis, "Function", { configurable: true, writable: true, value: own });
}
