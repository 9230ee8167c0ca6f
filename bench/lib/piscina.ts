import { Piscina } from "piscina";
import type { Subject } from "./subject.js";

const QUEUE_MAX = 100_000;

/** Tasks go to any of two threads, so the counters are in memory that both share. */
export async function startPiscina(contexts: number): Promise<Subject> {
  const counts = new Int32Array(new SharedArrayBuffer(4 * contexts));
  const pool = new Piscina({
    filename: new URL("./thread.mjs", import.meta.url).href,
    minThreads: 2,
    maxThreads: 2,
    concurrentTasksPerWorker: 64,
    maxQueue: QUEUE_MAX,
    workerData: { module: new URL("./piscina-thread.ts", import.meta.url).href, counts },
  });
  return {
    call: (counter, work) => pool.run({ counter, work }),
    counted: async () => counts.reduce((sum, count) => sum + count, 0),
    stop: () => pool.destroy(),
  };
}
