import { dirname, resolve } from "node:path";
import type { Analysis } from "../analysis/index.js";
import type { RunnableComponent } from "../check/index.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";
import type { Terminal } from "./terminal.js";

const PROGRESS_EVERY_MS = 2000;

export interface CheckArguments {
  readonly file: string;
  readonly seeds: readonly number[];
  readonly json: boolean;
}

/** `headwater analyze FILE --check`: says whether no label was proved wrong. */
export async function runCheck(
  analysis: Analysis,
  { file, seeds, json }: CheckArguments,
  terminal: Terminal,
): Promise<boolean> {
  const { check, checkToJson, runnableComponent, showCheck, sqlComponent } = await import(
    "../check/index.js"
  );
  const code = new Map<string, RunnableComponent>();
  for (const { name, runs } of analysis.topology.graph.components) {
    if (runs === undefined) continue;
    if ("sql" in runs) {
      code.set(name, await sqlComponent(runs.sql, runs.tables, runs.to));
    } else {
      const exported = await loadModule(findProgram(runs.module, dirname(resolve(file))));
      code.set(name, runnableComponent(exported.default, runs.module));
    }
  }
  let told = Date.now();
  const progress = (done: number) => {
    if (Date.now() - told < PROGRESS_EVERY_MS) return;
    told = Date.now();
    terminal.say(`${done} of ${seeds.length} seeds`);
  };
  const result = check(analysis, { seeds, code, progress });
  const replay = (seed: number) => `npx headwater analyze ${file} --check --seed ${seed}`;
  if (json) terminal.out(JSON.stringify(checkToJson(result, replay)));
  else terminal.out(showCheck(result, replay));
  if (!result.ok) terminal.say("HW-5008: a label is not true. `headwater explain HW-5008` says what to do.");
  return result.ok;
}
