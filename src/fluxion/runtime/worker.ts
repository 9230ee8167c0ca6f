import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { getEnvironmentData } from "node:worker_threads";
import type { WatchedStages } from "../checked/index.js";
import { Claims } from "./claims.js";
import { Fluxions, stagesAre } from "./fluxions.js";
import { StageRefusal } from "./refusal.js";
import { readTheSame } from "./same-files.js";
import type { FoundStage, StageFunction } from "./work.js";
import { type EarlierWork, WORKER_MODULES, type WorkerTask } from "./worker-modules.js";

interface Loaded {
  readonly stages?: Record<string, StageFunction>;
}

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
const { watching } = task;
const watched =
  watching === null ? null : new (await import("../checked/index.js")).WatchedStages(watching.host);
const readAnything = readTheSame(task);

function found(loaded: Loaded & { default?: Loaded }): void {
  const all = loaded.stages ?? loaded.default?.stages ?? {};
  for (const [id, run] of Object.entries(all))
    stages.set(id, { run, receivers: places[id]?.receivers ?? [] });
}

function isBroken(url: string, error: unknown): void {
  broken.set(url, error instanceof Error ? error.message : String(error));
}

async function load(): Promise<void> {
  for (const url of modules) {
    try {
      found((await import(url)) as Loaded);
    } catch (error) {
      isBroken(url, error);
    }
  }
}

/** Watched stages are what they are on the main loop once they have done what was done there. */
async function loadWatched(by: WatchedStages, earlier: EarlierWork["earlier"]): Promise<void> {
  const require = createRequire(import.meta.url);
  for (const url of modules) {
    try {
      found(by.load(() => require(fileURLToPath(url)) as Loaded));
    } catch (error) {
      return isBroken(url, error);
    }
  }
  try {
    await by.begin(earlier, (id) => find(id).run);
    for (const [id, stage] of stages) stages.set(id, { ...stage, run: by.watched(stage.run) });
  } catch (error) {
    stages.clear();
    for (const url of modules) isBroken(url, error);
  }
}

if (watched === null || watching === null) await load();
else await loadWatched(watched, watching.earlier);
readAnything();

function find(id: string): FoundStage {
  const stage = stages.get(id);
  if (stage !== undefined) return stage;
  const why = broken.get(places[id]?.module ?? "");
  throw new StageRefusal(
    why === undefined ? `there is no stage ${id}` : `its module could not be loaded: ${why}`,
  );
}

stagesAre(find, new Claims(task.claims));

export default Fluxions;
