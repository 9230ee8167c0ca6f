import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";
import { StageRefusal } from "#src/fluxion/runtime/refusal.js";
import { StageTurns } from "#src/fluxion/runtime/turns.js";
import { perform } from "#src/fluxion/runtime/work.js";

/** The thread that stages run in, as the runtime's own threads run them: with modules and objects of their own. */

const require = createRequire(import.meta.url);
const turns = new StageTurns();
const stages = new Map();

let loaded = Promise.resolve();

parentPort?.on("message", (message) => {
  if ("folder" in message) loaded = loaded.then(() => load(message));
  else loaded = loaded.then(() => void run(message));
});

async function load({ folder, stages: all }) {
  for (const path of Object.keys(require.cache)) delete require.cache[path];
  stages.clear();
  for (const { id, module, receivers } of all) {
    try {
      const path = `${folder}/${module}`;
      const made = module.endsWith(".mjs") ? await import(path) : require(path);
      stages.set(id, { run: made.stages[id], receivers });
    } catch (error) {
      stages.set(id, { error, receivers });
    }
  }
}

async function run({ run: nth, id, parcel }) {
  const report = await turns.run(() =>
    perform(() => {
      const { run: found, error, receivers } = stages.get(id);
      if (found === undefined) throw new StageRefusal(`its module could not be loaded: ${error}`);
      return { run: found, receivers };
    }, parcel),
  );
  parentPort?.postMessage({ run: nth, report });
}
