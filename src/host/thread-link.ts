import { type ResourceLimits, Worker } from "node:worker_threads";
import {
  type Aside,
  type HostLink,
  type HostTask,
  type LinkEvents,
  NOTHING_RUNS,
  runningIn,
  YOUNG_GENERATION_MB,
} from "./host-link.js";

/** A host that is a thread of this process. */
export function openThread(task: HostTask, on: LinkEvents): HostLink {
  return linkTo(startThread(task, { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }), on);
}

/**
 * The same in the background: it does not keep a process alive that has nothing else to do. Few events at a time run
 * there, for milliseconds each, so it has a young generation as Node gives it, which fits into the caches better.
 */
export function openBackgroundThread(task: HostTask, on: LinkEvents): HostLink {
  const thread = startThread(task, {});
  const link = linkTo(thread, on);
  thread.worker.unref(); // after the listeners, which keep it alive
  return link;
}

interface Thread {
  readonly worker: Worker;
  readonly noted: Float64Array;
}

function startThread(task: HostTask, limits: ResourceLimits): Thread {
  const noted = new Float64Array(new SharedArrayBuffer(16)).fill(NOTHING_RUNS);
  const worker = new Worker(new URL("./host-thread.js", import.meta.url), {
    workerData: { headwater: { task, noted } },
    resourceLimits: task.heapMb === undefined ? limits : { ...limits, maxOldGenerationSizeMb: task.heapMb },
  });
  return { worker, noted };
}

function linkTo({ worker, noted }: Thread, on: LinkEvents): HostLink {
  worker.on("message", (message: Uint8Array | Aside) => {
    if (message instanceof Uint8Array) on.batch(message);
    else on.aside(message);
  });
  worker.on("error", (error) => on.lost(error));
  worker.on("exit", (code) => on.lost(new Error(`it ended with code ${code}`)));
  return {
    post: (bytes) => worker.postMessage(bytes, [bytes.buffer as ArrayBuffer]),
    tell: (aside) => worker.postMessage(aside),
    running: (answer) => answer(runningIn(noted)),
    kill: () => void worker.terminate(),
    close: async () => void (await worker.terminate()),
  };
}
