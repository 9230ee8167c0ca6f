import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../errors.js";
import { Context, type ContextClass } from "../model/context.js";
import { inspectTree, isKindOf, nameOf, type Shape, storedNameOf } from "../model/shape.js";
import type { Roots } from "./fleet/index.js";
import type { Nodes } from "./service.js";

/** What a module has to have so that hosts can load a program from it. */

/** A program in words: what hosts compare theirs with, so that no program runs on the hosts of another. */
export interface Outline {
  /** Its logical nodes and their root classes. */
  readonly nodes: Readonly<Record<string, string>>;
  /** What there is in a context of each class, by the name of the class; children that need a key may be missing. */
  readonly classes: Readonly<Record<string, string>>;
}

export function outlineOf(roots: Roots): Outline {
  const seen = new Map<ContextClass, Shape | null>();
  for (const root of Object.values(roots)) inspectTree(root, seen);
  const shapes = [...seen.values()].filter((shape) => shape !== null);
  const isAlone = ({ name }: Shape) => shapes.filter((shape) => shape.name === name).length === 1;
  return {
    nodes: Object.fromEntries(Object.entries(roots).map(([node, root]) => [node, storedNameOf(root)])),
    classes: Object.fromEntries(shapes.filter(isAlone).map((shape) => [shape.name, partsOf(shape)])),
  };
}

function partsOf({ fields, slots, methods }: Shape): string {
  const below = slots.map(({ field, single, cls }) => `${field}${single ? "" : "(…)"}: ${nameOf(cls)}`);
  const names = [...methods.keys()].sort().map((method) => `${method}()`);
  return [...fields, ...below, ...names].join(", ") || "nothing";
}

/** The root classes in a module, by the names of their logical nodes; refused if they differ from the outline. */
export async function loadRoots(module: string, expected: Outline | undefined): Promise<Roots> {
  const url = new URL(module);
  if (url.protocol === "file:" && !existsSync(fileURLToPath(url)))
    throw cannotLoad(module, "there is no such file");
  if (/\.[mc]?tsx?$/.test(url.pathname)) (await import("tsx/esm/api")).register();
  const exported = rootsIn(module, (await imported(module)).default);
  const roots = typeof exported === "function" ? { [storedNameOf(exported)]: exported } : exported;
  const why = expected === undefined ? null : difference(outlineOf(roots), expected);
  if (why === null) return roots;
  const cure = "Pass the address of the module that has what is given to `run` as its default export";
  throw cannotLoad(module, `it is another program than the running one: ${why}. ${cure}`);
}

async function imported(module: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(module)) as { default?: unknown };
  } catch (cause) {
    if (cause instanceof HeadwaterError) throw cause;
    throw failedToLoad(module, cause);
  }
}

/** What a module is told to have, and has not. */
function difference(found: Outline, expected: Outline): string | null {
  const [there, here] = [shown(found.nodes), shown(expected.nodes)];
  if (there !== here) return `its default export is ${there}, and ${here} runs`;
  for (const [name, parts] of Object.entries(expected.classes)) {
    const other = found.classes[name];
    if (other !== undefined && other !== parts)
      return `its ${name} has ${other}, and the running program's has ${parts}`;
  }
  return null;
}

function shown(nodes: Outline["nodes"]): string {
  const named = Object.entries(nodes).map(([node, root]) => (node === root ? root : `${node}: ${root}`));
  return named.sort().join(", ");
}

/** The default export of a module, if it is a program. */
export function rootsIn(module: string, exported: unknown): ContextClass<Context> | Nodes {
  if (exported === undefined) {
    throw cannotLoad(
      module,
      "it has no default export. Export the root class: `export default class Game extends Context`",
    );
  }
  if (typeof exported === "function") return rootIn(module, "its default export", exported);
  const prototype: unknown =
    typeof exported === "object" && exported !== null ? Object.getPrototypeOf(exported) : undefined;
  if (prototype !== Object.prototype || Object.keys(exported as object).length === 0) {
    throw cannotLoad(
      module,
      "its default export is neither a class that extends Context nor an object of such classes by name, " +
        "`{ compute: Life, printer: Printer }`",
    );
  }
  const named = Object.entries(exported as object);
  return Object.fromEntries(
    named.map(([name, root]) => [name, rootIn(module, `\`${name}\` of its default export`, root)]),
  );
}

function rootIn(module: string, what: string, root: unknown): ContextClass<Context> {
  if (typeof root === "function" && isKindOf(root as ContextClass, Context))
    return root as ContextClass<Context>;
  if (extendsAnotherContext(root)) {
    throw cannotLoad(
      module,
      `${what} extends the Context of another copy of headwater than the copy that runs it. Run it with the copy ` +
        "that it imports: `npx headwater run` in the program's own folder",
    );
  }
  throw cannotLoad(module, `${what} is not a class that extends Context`);
}

/** Is there a class named Context above, though not ours? */
function extendsAnotherContext(cls: unknown): boolean {
  for (let at = cls; typeof at === "function"; at = Object.getPrototypeOf(at)) {
    if (at.name === "Context") return true;
  }
  return false;
}

export function cannotLoad(module: string, reason: string, cause?: unknown): HeadwaterError {
  const options = cause === undefined ? undefined : { cause };
  return new HeadwaterError("HW-2002", `${module} could not be loaded: ${reason}.`, options);
}

/** The module's own code, or a file that it imports, failed. */
export function failedToLoad(module: string, cause: unknown): HeadwaterError {
  if (cause instanceof HeadwaterError && cause.code === "HW-2005") return cause; // says what to install
  return cannotLoad(module, `it failed while loading: ${reasonOf(cause)}${cureFor(cause)}`, cause);
}

/** Node itself reads no decorators, and says only that a token is unexpected. */
function cureFor(cause: unknown): string {
  if (!(cause instanceof SyntaxError) || !cause.message.startsWith("Invalid or unexpected token")) return "";
  return (
    ". If it stumbled over a decorator such as `@readonly`: Node reads none, so compile them away with " +
    '`"target": "es2022"` in tsconfig.json, or run the TypeScript file itself'
  );
}

export function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.trim().replace(/\.$/, "");
}
