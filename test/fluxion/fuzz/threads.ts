import { Worker } from "node:worker_threads";
import { HeadwaterError } from "headwater";
import type { ReceiverKind } from "#src/fluxion/runtime/manifest.js";
import type { Parcel } from "#src/fluxion/runtime/parcel.js";

/** The stages of a program, and the modules that have them. */
interface LoadStages {
  readonly folder: string;
  readonly stages: readonly {
    readonly id: string;
    readonly module: string;
    readonly receivers: readonly ReceiverKind[];
  }[];
}

interface Waiting {
  readonly resolve: (report: Parcel) => void;
  readonly reject: (error: unknown) => void;
}

/** One thread that runs the stages of one program after the other; replaced when a stage has ended it. */
export class Elsewhere {
  #worker: Worker | null = null;
  #stages: LoadStages | null = null;
  #next = 0;
  readonly #waiting = new Map<number, Waiting>();

  load(stages: LoadStages): void {
    this.#stages = stages;
    if (this.#worker === null) this.#thread();
    else this.#worker.postMessage(stages);
  }

  run(id: string, parcel: Parcel): Promise<Parcel> {
    const run = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(run, { resolve, reject });
      this.#thread().postMessage({ run, id, parcel });
    });
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #thread(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL("elsewhere.mjs", import.meta.url), { execArgv: [] });
    this.#worker = worker;
    worker.on("message", ({ run, report }: { readonly run: number; readonly report: Parcel }) => {
      this.#waiting.get(run)?.resolve(report);
      this.#waiting.delete(run);
    });
    const lost = (cause: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      for (const { reject } of this.#waiting.values())
        reject(new HeadwaterError("HW-6004", "the thread of a stage has ended.", { cause }));
      this.#waiting.clear();
    };
    worker.on("error", lost);
    worker.on("exit", lost);
    if (this.#stages !== null) worker.postMessage(this.#stages);
    return worker;
  }
}
