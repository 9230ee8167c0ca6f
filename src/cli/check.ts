import { dirname, resolve } from "node:path";
import type { Analysis } from "../analysis/index.js";
import type { RunnableComponent } from "../check/index.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";
import type { Terminal } from "./terminal.js";

const PROGRESS_EVERY_MS = 2000;

/** What `headwater analyze --check` adds to a report. */
export interface Checks {
  readonly ok: boolean;
  readonly text: string;
  readonly data: object;
}

export async function runCheck(
  analysis: Analysis,
  file: string,
  seeds: readonly number[],
  terminal: Terminal,
): Promise<Checks> {
  const { check, checkToJson, showCheck } = await import("../check/index.js");
  const code = await codeOf(analysis, dirname(resolve(file)));
  let told = Date.now();
  const progress = (done: number) => {
    if (Date.now() - told < PROGRESS_EVERY_MS) return;
    told = Date.now();
    terminal.say(`${done} of ${seeds.length} seeds`);
  };
  const result = check(analysis, { seeds, code, progress });
  const replay = (seed: number) => `npx headwater analyze ${file} --check --seed ${seed}`;
  if (!result.ok) terminal.say("HW-5008: a label is not true. `headwater explain HW-5008` says what to do.");
  return { ok: result.ok, text: showCheck(result, replay), data: checkToJson(result, replay) };
}

async function codeOf({ topology }: Analysis, folder: string): Promise<Map<string, RunnableComponent>> {
  const { runnableComponent, sqlComponent } = await import("../check/index.js");
  const code = new Map<string, RunnableComponent>();
  for (const { name, runs } of topology.graph.components) {
    if (runs === undefined) continue;
    if ("sql" in runs) {
      code.set(name, await sqlComponent(runs.sql, runs.tables, runs.to, runs));
    } else {
      const exported = await loadModule(findProgram(runs.module, folder));
      code.set(name, runnableComponent(exported.default, runs.module));
    }
  }
  return code;
}
