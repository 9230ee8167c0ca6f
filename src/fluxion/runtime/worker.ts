import { getEnvironmentData } from "node:worker_threads";
import { Fluxions, stagesAre } from "./fluxions.js";
import { Refusal } from "./refusal.js";
import type { StageFunction } from "./work.js";
import { WORKER_MODULES, type WorkerModules } from "./worker-modules.js";

/** What threads load: the stages of a compiled program. */

const { modules, stages: places } = getEnvironmentData(WORKER_MODULES) as unknown as WorkerModules;
const stages = new Map<string, StageFunction>();
const broken = new Map<string, string>();

process.setSourceMapsEnabled(true);
if (modules.some((url) => /\.[mc]?tsx?$/.test(url))) {
  (await import("tsx/esm/api")).register();
  (await import("tsx/cjs/api")).register();
}
for (const url of modules) {
  try {
    const loaded = (await import(url)) as {
      stages?: Record<string, StageFunction>;
      default?: { stages?: Record<string, StageFunction> };
    };
    const found = loaded.stages ?? loaded.default?.stages ?? {};
    for (const [id, stage] of Object.entries(found)) stages.set(id, stage);
  } catch (error) {
    broken.set(url, error instanceof Error ? error.message : String(error));
  }
}

stagesAre((id) => {
  const stage = stages.get(id);
  if (stage !== undefined) return stage;
  const why = broken.get(places[id] ?? "");
  throw new Refusal(why === undefined ? `there is no stage ${id}` : `its module could not be loaded: ${why}`);
});

export default Fluxions;
