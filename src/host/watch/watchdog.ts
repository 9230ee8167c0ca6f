import { Worker } from "node:worker_threads";
import { HeadwaterError } from "../../errors.js";
import { running } from "../event/index.js";
import { type BlockedFor, RUNNING, type WatchedThread } from "./watched.js";

/**
 * Watches the thread of a program that has no other hosts: a second thread goes on when this one is blocked, asks it what it
 * is at through its debugger, and says so on stderr. Events pay nothing for it: this thread counts in shared memory, now and
 * then, and the other sees whether it does.
 */

type Times = Pick<WatchedThread, "lookMs" | "reportMs" | "endMs">;
type Warn = (warning: HeadwaterError) => void;

/** Listeners, by the times that they have given: programs in one thread share one that watches it. */
const watches = new Map<string, Set<Warn>>();

/** Has this thread watched; returns how to stop hearing of it. It does not keep the process alive. */
export function watchThread(times: Times, warn: Warn): () => void {
  const name = JSON.stringify(times);
  const listeners = watches.get(name) ?? new Set<Warn>();
  const tell: Warn = (warning) => {
    for (const each of listeners) each(warning);
  };
  if (!watches.has(name)) begin(times, tell);
  watches.set(name, listeners.add(warn));
  return () => void listeners.delete(warn);
}

function begin(times: Times, warn: Warn): void {
  const heartbeats = new Int32Array(new SharedArrayBuffer(4));
  (globalThis as Record<symbol, unknown>)[Symbol.for(RUNNING)] = whatRuns;
  const watched: WatchedThread = { heartbeats, ...times };
  const worker = new Worker(new URL("./watchdog-thread.js", import.meta.url), {
    workerData: { headwaterWatched: watched },
    execArgv: [], // what the program is loaded with, it need not load
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  setInterval(() => Atomics.add(heartbeats, 0, 1), times.lookMs).unref();
  worker.on("error", ({ message }) => {
    warn(new HeadwaterError("HW-6035", `the thread of the program is not watched any more: ${message}.`));
  });
  worker.on("message", ({ ms, by }: BlockedFor) => {
    const what = `${by} has kept the thread of the program from doing anything else for ${ms} ms.`;
    warn(new HeadwaterError("HW-6006", what));
  });
  worker.unref(); // after the listeners, which keep it alive
}

/** For the watching thread, in the middle of whatever this one is at. */
function whatRuns(): string | null {
  const { slot, method } = running;
  return slot === null || method === null ? null : `${slot}.${method.name}(…)`;
}
