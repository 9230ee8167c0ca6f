import { basename } from "node:path";
import { Worker } from "node:worker_threads";
import type { Parcel } from "#src/fluxion/runtime/parcel.js";
import type { EarlierWork, WorkerModules } from "#src/fluxion/runtime/worker-modules.js";

/** What a thread that watches is given. */
export interface WatchedProgram {
  readonly folder: string;
  /** Files of the folder, and the stages that they have. */
  readonly files: readonly string[];
  readonly ids: readonly string[];
  readonly watching: EarlierWork;
}

/** A thread of its own, as all objects in it are looked at: it runs the stages of one package in one run of one program. */
export class WatchingThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (report: Parcel) => void>();
  #next = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", ({ run, report }: { readonly run: number; readonly report: Parcel }) => {
      this.#waiting.get(run)?.(report);
      this.#waiting.delete(run);
    });
  }

  static start(
    folder: string,
    { modules, stages }: WorkerModules,
    watching: EarlierWork,
  ): Promise<WatchingThread> {
    const files = modules.map((url) => basename(url).replace(/ts$/, "js"));
    const workerData: WatchedProgram = { folder, files, ids: Object.keys(stages), watching };
    const worker = new Worker(new URL("watching.mjs", import.meta.url), { workerData, execArgv: [] });
    return new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", () => resolve(new WatchingThread(worker)));
    });
  }

  run(id: string, parcel: Parcel): Promise<Parcel> {
    const run = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(run, resolve);
      this.#worker.postMessage({ run, id, parcel });
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
