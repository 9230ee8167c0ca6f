import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { factsOfHost, WatchedStages } from "#src/fluxion/checked/index.js";

/** A thread that watches the calls of one package, and says what it thinks of each. */
const { file, early, calls } = workerData;
const require = createRequire(import.meta.url);
const said = [];
try {
  const watched = new WatchedStages(factsOfHost());
  const loaded = watched.load(() => require(file));
  const stage = (name) => (inputs) => name.split(".").reduce((of, key) => (key === "" ? of : of[key]), loaded)(...inputs);
  await watched.begin(early.map(([name, ...inputs]) => [name, inputs]), stage);
  for (const [name, ...inputs] of calls) {
    try {
      said.push({ value: structuredClone(watched.watched(stage(name))(inputs)) });
    } catch (error) {
      said.push({ error: error.message });
    }
  }
} catch (error) {
  said.push({ error: error.message });
}
parentPort.postMessage(said);
