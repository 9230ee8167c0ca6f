import { Worker } from "node:worker_threads";
import { PortCarrier } from "../../net/index.js";
import {
  type Aside,
  type HostLink,
  type HostTask,
  type LinkEvents,
  NOTHING_RUNS,
  runningIn,
  uncaught,
  YOUNG_GENERATION_MB,
} from "./host-link.js";
import { deadLink, NotSpawned } from "./not-spawned.js";

/** What a main thread has (984 kB), and what Node keeps of a thread's stack for itself. Threads have 4 MB otherwise. */
const MAIN_STACK_MB = (984 + 192) / 1024;

/**
 * The same in the background: it does not keep a process alive that has nothing else to do. A recursion that is too deep for the main
 * thread is too deep there as well.
 */
export function openBackgroundThread(task: HostTask, on: LinkEvents): HostLink {
  return openThread(task, on, (worker) => worker.unref(), MAIN_STACK_MB);
}

/** A host that is a thread of this process. */
export function openThread(
  task: HostTask,
  on: LinkEvents,
  started: (worker: Worker) => void = () => {},
  stackMb: number | null = null,
): HostLink {
  const noted = new Float64Array(new SharedArrayBuffer(16)).fill(NOTHING_RUNS);
  const worker = newWorker(task, noted, stackMb);
  if (worker instanceof NotSpawned) {
    process.nextTick(() => on.lost(worker));
    return deadLink("thread");
  }
  const carrier = new PortCarrier<Aside>(worker);
  carrier.listen(on);
  worker.on("error", (error) => on.lost(endedBy(error)));
  worker.on("exit", (code) => on.lost(new Error(`it ended with code ${code}`)));
  started(worker); // after the listeners, which keep it alive
  return {
    kind: "thread",
    post: (bytes) => carrier.post(bytes),
    tell: (aside) => carrier.tell(aside),
    running: (answer) => answer(runningIn(noted)),
    kill: () => void worker.terminate(),
    close: async () => void (await worker.terminate()),
  };
}

function newWorker(task: HostTask, noted: Float64Array, stackMb: number | null): Worker | NotSpawned {
  try {
    return new Worker(new URL("../main/host-thread.js", import.meta.url), {
      workerData: { headwater: { task, noted } },
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
        ...(stackMb === null ? {} : { stackSizeMb: stackMb }),
        ...(task.heapMb === undefined ? {} : { maxOldGenerationSizeMb: task.heapMb }),
      },
    });
  } catch (error) {
    return NotSpawned.because(error);
  }
}

/** Node's own errors, such as that there is no more memory, say what has happened. */
function endedBy(error: Error): Error {
  const isNodes = "code" in error && String(error.code).startsWith("ERR_WORKER_");
  return isNodes ? error : new Error(`it ended because ${uncaught(error)}`, { cause: error });
}
