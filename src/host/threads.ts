import { Worker } from "node:worker_threads";
import { Placement } from "../elastic/placement.js";
import { HeadwaterError } from "../errors.js";
import type { Limits } from "./limits.js";
import type { Program } from "./program.js";
import type { Hosts } from "./remote.js";
import type { Slot } from "./slot.js";
import { messagesIn, Outbox } from "./thread-batch.js";
import type { ToHead, ToHost } from "./wire.js";

/** What a thread is told when it starts. */
export interface ThreadTask {
  readonly module: string;
  readonly limits: Limits;
  readonly isDurable: boolean;
}

const YOUNG_GENERATION_MB = 64;

interface Thread {
  readonly life: number;
  readonly worker: Worker;
  readonly outbox: Outbox<ToHost>;
}

/** Hosts that are threads of this process. */
export class ThreadHosts implements Hosts {
  readonly #task: ThreadTask;
  readonly #placement: Placement;
  readonly #threads = new Map<number, Thread>();
  #program: Program | null = null;
  #lives = 0;
  #isClosed = false;

  private constructor(task: ThreadTask, count: number) {
    this.#task = task;
    this.#placement = new Placement(Array.from({ length: count }, (_, host) => host));
  }

  /** Starts threads that have loaded the program. */
  static async start(task: ThreadTask, count: number): Promise<ThreadHosts> {
    const hosts = new ThreadHosts(task, count);
    await Promise.all(hosts.#placement.hosts.map((host) => hosts.#begin(host)));
    return hosts;
  }

  /** Whose events run here. */
  serve(program: Program): void {
    this.#program = program;
  }

  #begin(host: number): Promise<void> {
    const worker = new Worker(new URL("./host-thread.js", import.meta.url), {
      workerData: { headwater: this.#task },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#lives += 1;
    const outbox = new Outbox<ToHost>((bytes) => worker.postMessage(bytes, [bytes.buffer as ArrayBuffer]));
    this.#threads.set(host, { life: this.#lives, worker, outbox });
    return new Promise((resolve, reject) => {
      worker.on("message", (message: Uint8Array | "ready") => {
        if (message === "ready") return resolve();
        for (const each of messagesIn<ToHead>(message)) this.#program?.node(each.node).heard(host, each);
      });
      worker.on("error", (error) => {
        reject(error);
        this.#lost(host, error);
      });
      worker.on("exit", () => {
        const ended = new Error("it ended");
        reject(ended);
        this.#lost(host, ended);
      });
    });
  }

  #lost(host: number, why: Error): void {
    if (this.#isClosed || this.#program === null || !this.#threads.delete(host)) return;
    if (!this.#task.isDurable) {
      const what = `host ${host} has ended (${why.message}), and with it the contexts that it had: there is no journal.`;
      this.#program.journalFailed(new HeadwaterError("HW-6001", what, { cause: why }));
      return;
    }
    void this.#begin(host).catch(() => {});
    for (const node of this.#program.nodes.values()) node.hostLost(host);
  }

  of(slot: Slot): number {
    return this.#placement.of(slot);
  }

  place(slot: Slot, host: number): void {
    this.#placement.move(slot, host);
  }

  life(host: number): number {
    return this.#threads.get(host)?.life ?? 0;
  }

  send(host: number, message: ToHost): void {
    this.#threads.get(host)?.outbox.send(message);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads.values()].map(({ worker }) => worker.terminate()));
  }
}
