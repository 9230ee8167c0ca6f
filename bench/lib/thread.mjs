import { workerData } from "node:worker_threads";
import { register } from "tsx/esm/api";

/** Loads the TypeScript module that a thread is to run: Node 20 takes no loaders for threads on its command line. */
register();
const loaded = await import(workerData.module);

export default loaded.default;
