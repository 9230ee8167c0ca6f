import { setEnvironmentData } from "node:worker_threads";
import { DEFAULT_LIMITS } from "../../host/limits.js";
import { LocalHosts } from "../../host/local-hosts.js";
import { patienceOf } from "../../host/patience.js";
import { placementFor } from "../../host/placement-rules.js";
import { memoryPorts } from "../../host/ports.js";
import { runOn } from "../../host/run.js";
import type { Service } from "../../host/service.js";
import { openBackgroundThread } from "../../host/thread-link.js";
import { stayAlive } from "./alive.js";
import { Fluxions } from "./fluxions.js";
import type { Settings } from "./settings.js";
import { WORKER_MODULES, type WorkerModules } from "./worker-modules.js";

interface Job {
  readonly bytes: Uint8Array;
  readonly resolve: (report: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Threads that run stages: one anonymous context on each, pinned to it. One queue for all of them, first in, first out, so that nobody
 * waits behind a slow stage while a thread is idle.
 */
export class Pool {
  readonly #service: Service<Fluxions>;
  readonly #queue: Job[] = [];
  readonly #idle: number[];
  readonly #waitingMax: number;
  #underWay = 0;
  #mayEnd: (() => void) | null = null;

  private constructor(service: Service<Fluxions>, keys: readonly number[], waitingMax: number) {
    this.#service = service;
    this.#idle = [...keys];
    this.#waitingMax = waitingMax;
  }

  static async start({ threads, waitingMax, stageMsMax }: Settings, modules: WorkerModules): Promise<Pool> {
    setEnvironmentData(WORKER_MODULES, modules as unknown as Parameters<typeof setEnvironmentData>[1]);
    const module = new URL("./worker.js", import.meta.url).href;
    const task = { module, limits: DEFAULT_LIMITS, isDurable: false };
    const patience = patienceOf(Number.POSITIVE_INFINITY, null, stageMsMax ?? Number.POSITIVE_INFINITY);
    const keys = Array.from({ length: threads }, (_, key) => key);
    const pin = Object.fromEntries(keys.map((key) => [`${Fluxions.name}.workers(${key})`, key]));
    const hosts = await LocalHosts.start(
      openBackgroundThread,
      task,
      placementFor(threads, { pin }),
      patience,
    );
    const service = runOn(memoryPorts, Fluxions, {}, null, hosts, () => hosts.close()) as Service<Fluxions>;
    return new Pool(service, keys, waitingMax);
  }

  get isFull(): boolean {
    return this.#queue.length >= this.#waitingMax;
  }

  run(bytes: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ bytes, resolve, reject });
      this.#underWay += 1;
      this.#mayEnd ??= stayAlive();
      this.#dispatch();
    });
  }

  stop(): Promise<void> {
    return this.#service.stop({ graceMs: 0 });
  }

  #dispatch(): void {
    while (this.#idle.length > 0) {
      const job = this.#queue.shift();
      if (job === undefined) return;
      const key = this.#idle.pop() as number;
      this.#service.root
        .workers(key)
        .stage(job.bytes)
        .then(job.resolve, job.reject)
        .finally(() => this.#isDone(key));
    }
  }

  #isDone(key: number): void {
    this.#idle.push(key);
    this.#underWay -= 1;
    if (this.#underWay === 0) {
      this.#mayEnd?.();
      this.#mayEnd = null;
    }
    this.#dispatch();
  }
}
