import { getEnvironmentData } from "node:worker_threads";
import { Claims } from "./claims.js";
import { Fluxions, stagesAre } from "./fluxions.js";
import { StageRefusal } from "./refusal.js";
import { readTheSame } from "./same-files.js";
import type { FoundStage, StageFunction } from "./work.js";
import { WORKER_MODULES, type WorkerTask } from "./worker-modules.js";

/** What threads load: the stages of a compiled program. */

const task = getEnvironmentData(WORKER_MODULES) as unknown as WorkerTask;
const { modules, stages: places } = task;
const stages = new Map<string, FoundStage>();
const broken = new Map<string, string>();

process.setSourceMapsEnabled(true);
if (modules.some((url) => /\.[mc]?tsx?$/.test(url))) {
  (await import("tsx/esm/api")).register();
  (await import("tsx/cjs/api")).register();
}
const readAnything = readTheSame(task);
for (const url of modules) {
  try {
    const loaded = (await import(url)) as {
      stages?: Record<string, StageFunction>;
      default?: { stages?: Record<string, StageFunction> };
    };
    const found = loaded.stages ?? loaded.default?.stages ?? {};
    for (const [id, run] of Object.entries(found))
      stages.set(id, { run, receivers: places[id]?.receivers ?? [] });
  } catch (error) {
    broken.set(url, error instanceof Error ? error.message : String(error));
  }
}

readAnything();

stagesAre((id) => {
  const stage = stages.get(id);
  if (stage !== undefined) return stage;
  const why = broken.get(places[id]?.module ?? "");
  throw new StageRefusal(
    why === undefined ? `there is no stage ${id}` : `its module could not be loaded: ${why}`,
  );
}, new Claims(task.claims));

export default Fluxions;
