import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Analysis, RunnableComponent } from "../analysis/index.js";
import { HeadwaterError } from "../errors.js";
import { findProgram } from "./program-file.js";
import type { Terminal } from "./terminal.js";

const PROGRESS_EVERY_MS = 2000;

export interface CheckArguments {
  readonly file: string;
  readonly seeds: readonly number[];
  readonly json: boolean;
}

/** `headwater analyze FILE --check`: 0 unless a label was proved wrong. */
export async function runCheck(
  library: typeof import("../analysis/index.js"),
  analysis: Analysis,
  { file, seeds, json }: CheckArguments,
  terminal: Terminal,
): Promise<number> {
  const code = await codeOf(library, analysis, file);
  let told = Date.now();
  const progress = (done: number) => {
    if (Date.now() - told < PROGRESS_EVERY_MS) return;
    told = Date.now();
    terminal.say(`${done} of ${seeds.length} seeds`);
  };
  const result = library.check(analysis, { seeds, code, progress });
  const replay = (seed: number) => `npx headwater analyze ${file} --check --seed ${seed}`;
  if (json) terminal.out(JSON.stringify(library.checkToJson(result, replay)));
  else terminal.out(library.showCheck(result, replay));
  if (result.ok) return 0;
  terminal.say(
    "HW-5006: a path or a stream is not what its label says. `headwater explain HW-5006` says more.",
  );
  return 1;
}

async function codeOf(
  { sqlComponent }: typeof import("../analysis/index.js"),
  { topology }: Analysis,
  file: string,
): Promise<Map<string, RunnableComponent>> {
  const code = new Map<string, RunnableComponent>();
  for (const { name, runs } of topology.graph.components) {
    if (runs === undefined) continue;
    const runnable =
      "sql" in runs
        ? await sqlComponent(runs.sql, runs.tables, runs.to)
        : await loadComponent(name, findProgram(runs.module, dirname(file)));
    code.set(name, runnable as RunnableComponent);
  }
  return code;
}

/** Like programs, modules may be TypeScript. */
async function loadComponent(name: string, file: string): Promise<RunnableComponent> {
  const { register } = await import("tsx/esm/api");
  register();
  let exported: { default?: unknown };
  try {
    exported = (await import(pathToFileURL(file).href)) as { default?: unknown };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HeadwaterError("HW-5005", `The module of ${name}, ${file}, failed while loading: ${reason}`, {
      cause,
    });
  }
  const { initial, receive } = (exported.default ?? {}) as Partial<RunnableComponent>;
  if (typeof initial === "function" && typeof receive === "function") {
    return exported.default as RunnableComponent;
  }
  throw new HeadwaterError(
    "HW-5005",
    `The module of ${name}, ${file}, has no component as its default export: an object with \`initial()\` and ` +
      "`receive(state, input, record)`.",
  );
}
