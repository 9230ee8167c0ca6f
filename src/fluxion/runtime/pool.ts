import { setEnvironmentData } from "node:worker_threads";
import { placementFor, startHosts } from "../../host/fleet/index.js";
import { openBackgroundThread } from "../../host/link/index.js";
import { DEFAULT_LIMITS, memoryPorts, patienceOf } from "../../host/ports/index.js";
import { runOn } from "../../host/run.js";
import type { Service } from "../../host/service.js";
import { stayAlive } from "./alive.js";
import { Claims } from "./claims.js";
import { Fluxions } from "./fluxions.js";
import type { Parcel } from "./parcel.js";
import { FOLDER } from "./same-files.js";
import type { Settings } from "./settings.js";
import { PLACES, Sharing } from "./sharing.js";
import { type EarlierWork, WORKER_MODULES, type WorkerModules, type WorkerTask } from "./worker-modules.js";

/** Threads that run stages: one anonymous context on each, pinned to it. */
export class Pool {
  readonly #service: Service<Fluxions>;
  readonly #sharing: Sharing;
  readonly #waitingMax: number;
  #underWay = 0;
  #mayEnd: (() => void) | null = null;

  private constructor(service: Service<Fluxions>, sharing: Sharing, waitingMax: number) {
    this.#service = service;
    this.#sharing = sharing;
    this.#waitingMax = waitingMax;
  }

  static async start(
    { threads, waitingMax, stageMsMax }: Settings,
    modules: WorkerModules,
    watching: EarlierWork | null = null,
  ): Promise<Pool> {
    const claims = Claims.memoryFor(threads * PLACES);
    const given: WorkerTask = {
      ...modules,
      claims,
      folder: FOLDER,
      sinceMs: performance.timeOrigin,
      watching,
    };
    setEnvironmentData(WORKER_MODULES, given as unknown as Parameters<typeof setEnvironmentData>[1]);
    const module = new URL("./worker.js", import.meta.url).href;
    const task = { module, limits: DEFAULT_LIMITS, isDurable: false };
    const patience = patienceOf(Number.POSITIVE_INFINITY, null, stageMsMax ?? Number.POSITIVE_INFINITY);
    const keys = Array.from({ length: threads }, (_, key) => key);
    const pin = Object.fromEntries(keys.map((key) => [`${Fluxions.name}.workers(${key})`, key]));
    const hosts = await startHosts(openBackgroundThread, task, placementFor(threads, { pin }), patience);
    const options = { onWarning: () => {} }; // the caller of a stage hears what became of its thread
    const close = () => hosts.close();
    const service = runOn(memoryPorts, Fluxions, options, null, hosts, close) as Service<Fluxions>;
    const sharing = new Sharing(threads, new Claims(claims), (thread, { id, parcel }, place) =>
      service.root.workers(thread).stage(place, id, ...parcel),
    );
    return new Pool(service, sharing, waitingMax);
  }

  get isFull(): boolean {
    return this.#sharing.waiting >= this.#waitingMax;
  }

  /** Comes to null if no thread has begun with it and none will. */
  run(id: string, parcel: Parcel): Promise<Parcel | null> {
    this.#underWay += 1;
    this.#mayEnd ??= stayAlive();
    return new Promise((resolve, reject) => {
      this.#sharing.add({
        id,
        parcel,
        ended: (report) => {
          this.#isDone();
          resolve(report);
        },
        failed: (error) => {
          this.#isDone();
          reject(error);
        },
      });
    });
  }

  stop(): Promise<void> {
    this.#sharing.stop();
    return this.#service.stop({ graceMs: 0 });
  }

  #isDone(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    this.#mayEnd?.();
    this.#mayEnd = null;
  }
}
