import { Worker } from "node:worker_threads";
import {
  type Aside,
  type HostLink,
  type HostTask,
  type LinkEvents,
  NOTHING_RUNS,
  runningIn,
  YOUNG_GENERATION_MB,
} from "./host-link.js";

/**
 * A thread that reaches the end of its heap may take 16 MB more until it has ended; if that is not enough, V8 ends the whole
 * process. So what survives one collection of young objects, a third of them, has to be clearly less.
 */
const YOUNG_IN_BACKGROUND_MB = 32;

/** The same in the background: it does not keep a process alive that has nothing else to do, nor end it. */
export function openBackgroundThread(task: HostTask, on: LinkEvents): HostLink {
  return openThread(task, on, YOUNG_IN_BACKGROUND_MB, (worker) => worker.unref());
}

/** A host that is a thread of this process. */
export function openThread(
  task: HostTask,
  on: LinkEvents,
  youngMb = YOUNG_GENERATION_MB,
  started: (worker: Worker) => void = () => {},
): HostLink {
  const noted = new Float64Array(new SharedArrayBuffer(16)).fill(NOTHING_RUNS);
  const worker = new Worker(new URL("./host-thread.js", import.meta.url), {
    workerData: { headwater: { task, noted } },
    resourceLimits: {
      maxYoungGenerationSizeMb: youngMb,
      ...(task.heapMb === undefined ? {} : { maxOldGenerationSizeMb: task.heapMb }),
    },
  });
  worker.on("message", (message: Uint8Array | Aside) => {
    if (message instanceof Uint8Array) on.batch(message);
    else on.aside(message);
  });
  worker.on("error", (error) => on.lost(error));
  worker.on("exit", (code) => on.lost(new Error(`it ended with code ${code}`)));
  started(worker); // after the listeners, which keep it alive
  return {
    post: (bytes) => worker.postMessage(bytes, [bytes.buffer as ArrayBuffer]),
    tell: (aside) => worker.postMessage(aside),
    running: (answer) => answer(runningIn(noted)),
    kill: () => void worker.terminate(),
    close: async () => void (await worker.terminate()),
  };
}
