import { pathToFileURL } from "node:url";
import { cannotLoad, failedToLoad, rootsIn } from "../host/program-module.js";
import type { Nodes } from "../host/service.js";
import type { Api } from "../model/api.js";
import type { Context, ContextClass } from "../model/context.js";

/** What a program's `main` gets besides the running service. */
export interface ProgramIo {
  /** Writes one line to stdout. */
  print(line: string): void;
  /** Aborted when the user wants the program to end. */
  readonly signal: AbortSignal;
  /** The user asked for a run without an end. */
  readonly forever: boolean;
  /** How much load to make, for a program that makes its own: 1, unless the user of `headwater dev` has changed it. */
  readonly load: number;
}

/** What a program's file exports: the classes to run, and what to do with them once they run. */
export interface LoadedProgram {
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
    throw failedToLoad(file, cause);
  }
}

export async function loadProgram(file: string): Promise<LoadedProgram> {
  const { default: roots, main = null, api } = await loadModule(file);
  if (main !== null && typeof main !== "function") {
    throw cannotLoad(file, "what it exports as `main` is not a function");
  }
  return { file, roots: rootsIn(file, roots), main: main as LoadedProgram["main"], api };
}

/** The API of a program that is to be served. */
export function apiOf({ file, api }: LoadedProgram): Api {
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
