import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Analysis, analyze, readDataflow } from "headwater/analysis";
import { type CheckResult, check, type RunnableComponent, sqlComponent } from "headwater/analysis/check";
import { ROOT } from "../house/source.js";

type Modules = Readonly<Record<string, RunnableComponent>>;

/** What a dataflow runs: its queries, and modules by the names that it gives them. */
async function codeOf({ topology }: Analysis, modules: Modules): Promise<Map<string, RunnableComponent>> {
  const code = new Map<string, RunnableComponent>();
  for (const { name, runs } of topology.graph.components) {
    if (runs === undefined) continue;
    const runnable =
      "sql" in runs ? await sqlComponent(runs.sql, runs.tables, runs.to, runs) : modules[runs.module];
    if (runnable !== undefined) code.set(name, runnable as RunnableComponent);
  }
  return code;
}

export async function checked(
  text: string,
  { modules = {}, seeds = range(12) }: { modules?: Modules; seeds?: readonly number[] } = {},
): Promise<CheckResult> {
  const analysis = analyze(await readDataflow(text, { source: "flow.yaml" }));
  return check(analysis, { seeds, code: await codeOf(analysis, modules) });
}

/** An example with its own modules, possibly changed a little. */
export async function checkedExample(
  name: string,
  seeds: readonly number[],
  change: (text: string) => string = (text) => text,
): Promise<CheckResult> {
  const folder = join(ROOT, "examples", "analysis");
  const modules: Record<string, RunnableComponent> = {};
  for (const each of ["./cache.ts", "./splitter.ts"]) {
    const { default: component } = (await import(pathToFileURL(join(folder, each)).href)) as {
      default: RunnableComponent;
    };
    modules[each] = component;
  }
  return await checked(change(readFileSync(join(folder, `${name}.yaml`), "utf8")), { modules, seeds });
}

export function range(count: number, first = 1): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}
