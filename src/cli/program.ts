import { pathToFileURL } from "node:url";
import { HeadwaterError } from "../errors.js";
import type { Nodes } from "../host/service.js";
import type { Api } from "../model/api.js";
import { Context, type ContextClass } from "../model/context.js";
import { isKindOf } from "../model/shape.js";

/** What a program's `main` gets besides the running service. */
export interface ProgramIo {
  /** Writes one line to stdout. */
  print(line: string): void;
  /** Aborted when the user wants the program to end. */
  readonly signal: AbortSignal;
  /** The user asked for a run without an end. */
  readonly forever: boolean;
}

/** What a program's file exports: the classes to run, and what to do with them once they run. */
export interface Program {
  readonly file: string;
  /** One root class, or the root class of each logical node by its name. */
  readonly roots: ContextClass<Context> | Nodes;
  readonly main: ((service: unknown, io: ProgramIo) => unknown) | null;
  /** What it exports as `api`: what callers outside may ask for, if it is meant to be that. */
  readonly api: unknown;
}

/**
 * Loads a module, TypeScript included, without a build step. The loader is registered for the whole process
 * and not for a namespace of its own, so that the program gets the one Headwater that is running already.
 */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { register } = await import("tsx/esm/api");
  register();
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw cannotLoad(file, `it failed while loading: ${reasonOf(cause)}`, cause);
  }
}

export async function loadProgram(file: string): Promise<Program> {
  const { default: roots, main = null, api } = await loadModule(file);
  if (main !== null && typeof main !== "function") {
    throw cannotLoad(file, "what it exports as `main` is not a function");
  }
  return { file, roots: checkedRoots(file, roots), main: main as Program["main"], api };
}

/** The API of a program that is to be served. */
export function apiOf({ file, api }: Program): Api {
  if (api === undefined) {
    throw cannotLoad(
      file,
      "there is nothing to serve: it exports no `api`. Say what callers may ask for: " +
        "`export const api = expose(Game, { census: (game) => game.census() })`",
    );
  }
  const { functions } = (api ?? {}) as { functions?: unknown };
  if (functions instanceof Map) return api as Api;
  throw cannotLoad(file, "what it exports as `api` was not made by `expose`");
}

function checkedRoots(file: string, roots: unknown): Program["roots"] {
  if (roots === undefined) {
    throw cannotLoad(
      file,
      "it has no default export. Export the root class: `export default class Game extends Context`",
    );
  }
  if (typeof roots === "function") return checkedRoot(file, "its default export", roots);
  const prototype: unknown =
    typeof roots === "object" && roots !== null ? Object.getPrototypeOf(roots) : undefined;
  if (prototype !== Object.prototype || Object.keys(roots as object).length === 0) {
    throw cannotLoad(
      file,
      "its default export is neither a class that extends Context nor an object of such classes by name, " +
        "`{ compute: Life, printer: Printer }`",
    );
  }
  const named = Object.entries(roots as object);
  return Object.fromEntries(
    named.map(([name, root]) => [name, checkedRoot(file, `\`${name}\` of its default export`, root)]),
  );
}

function checkedRoot(file: string, what: string, root: unknown): ContextClass<Context> {
  if (typeof root === "function" && isKindOf(root as ContextClass, Context))
    return root as ContextClass<Context>;
  if (extendsAnotherContext(root)) {
    throw cannotLoad(
      file,
      `${what} extends the Context of another copy of headwater than the one that runs it. Run it with the copy ` +
        "that it imports: `npx headwater run` in the program's own folder",
    );
  }
  throw cannotLoad(file, `${what} is not a class that extends Context`);
}

/** Is there a class named Context above, though not ours? */
function extendsAnotherContext(cls: unknown): boolean {
  for (let at = cls; typeof at === "function"; at = Object.getPrototypeOf(at)) {
    if (at.name === "Context") return true;
  }
  return false;
}

function cannotLoad(file: string, reason: string, cause?: unknown): HeadwaterError {
  const options = cause === undefined ? undefined : { cause };
  return new HeadwaterError("HW-2002", `${file} could not be loaded: ${reason}.`, options);
}

function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.trim().replace(/\.$/, "");
}
