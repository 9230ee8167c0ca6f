import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { WatchedStages } from "#src/fluxion/checked/index.js";
import { StageRefusal } from "#src/fluxion/runtime/refusal.js";
import { perform } from "#src/fluxion/runtime/work.js";

/** The thread that runs stages of packages of which nothing is known, as the runtime's own threads do. */

const require = createRequire(import.meta.url);
const { folder, files, watching } = workerData;
const stages = new Map();
let wrong = null;
const watched = new WatchedStages(watching.host);
try {
  for (const file of files) {
    const loaded = watched.load(() => require(`${folder}/${file}`));
    for (const [id, run] of Object.entries(loaded.stages)) stages.set(id, run);
  }
  await watched.begin(watching.earlier, (id) => stages.get(id));
} catch (error) {
  wrong = error.message;
}

parentPort?.on("message", async ({ run: nth, id, parcel }) => {
  const report = await perform(() => {
    const run = stages.get(id);
    if (wrong !== null || run === undefined) throw new StageRefusal(wrong ?? "there is no such stage");
    return { run: watched.watched(run), receivers: [] };
  }, parcel);
  parentPort?.postMessage({ run: nth, report });
});
parentPort?.postMessage("ready");
