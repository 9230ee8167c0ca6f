import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { WatchedStages } from "#src/fluxion/checked/index.js";
import { watch } from "#src/fluxion/checked/watch.js";
import { check } from "#src/fluxion/runtime/fidelity.js";

/** A thread that watches the calls of one package, and says what it thinks of each. A guard may be left out. */
const { file, early, calls, forgets, without } = workerData;
const require = createRequire(import.meta.url);
const said = [];
const LEFT_OUT = { isOld: () => false };
try {
  const watched = new WatchedStages({ argv: process.argv, streams: { stdout: {}, stderr: {} } });
  if (without !== null) watch[without] = LEFT_OUT[without] ?? ((object) => object);
  const loaded = watched.load(() => require(file));
  const stage = (name) => (inputs) => (name === "" ? loaded : loaded[name])(...inputs);
  await watched.begin(
    early.map(([name, ...inputs]) => [name, inputs]),
    stage,
  );
  for (const [name, ...inputs] of calls) {
    try {
      const value = watched.watched(stage(name))(inputs);
      check(value);
      said.push({ value: structuredClone(value) });
    } catch (error) {
      said.push({ error: error.message });
    }
    if (forgets) watch.failure = null;
  }
} catch (error) {
  said.push({ error: error.message });
}
parentPort.postMessage(said);
