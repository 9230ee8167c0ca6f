import { AsyncResource } from "node:async_hooks";
import type { EarlierCall } from "../checked/index.js";
import { type Parcel, packInputs, type Report, unpackInputs, unpackReport } from "./parcel.js";
import { StageRefusal } from "./refusal.js";
import type { Stage, StageCall, Workers } from "./stages.js";

/** Calls that are noted down while no thread is there: so many, with so many bytes. */
const EARLIER_MAX = 512;
const EARLIER_BYTES_MAX = 4 * 1024 * 1024;

/** A call that may have run elsewhere. It counts when all calls before it have counted. */
interface Pending {
  readonly stage: Stage;
  readonly parcel: Parcel;
  readonly local: (inputs: readonly unknown[]) => unknown;
  report: Report | { readonly refused: string } | null;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The calls of one package of which nothing is known. Until one of its stages is worth a worker, they run on the main loop and are noted
 * down; a worker does them again, and so has the package as it is on the main loop. From then on each call runs in a worker that
 * watches it, and counts in the order of the calls. The first that cannot be shown to change nothing runs on the main loop, with all that
 * come after it, for good.
 */
export class WatchedCalls {
  readonly #earlier: EarlierCall[] = [];
  readonly #pending: Pending[] = [];
  readonly #start: (earlier: readonly EarlierCall[]) => Promise<Workers>;
  readonly #world = worldNow();
  #bytes = 0;
  #pool: Promise<Workers> | null = null;
  /** Why its stages stay on the main loop from now on. */
  home: string | null = null;

  constructor(
    readonly name: string,
    start: (earlier: readonly EarlierCall[]) => Promise<Workers>,
  ) {
    this.#start = start;
  }

  call(stage: Stage, { inputs, local }: StageCall, change: string | null): Promise<unknown> | unknown {
    const { watched } = stage.entry;
    const shared = inputs.findIndex((each, i) => isObject(each) && watched?.own.includes(i) !== true);
    if (change !== null) this.goHome(change);
    if (shared >= 0) this.goHome(`${stage.entry.inputs[shared] ?? "an input"} is an object, which others may hold`);
    if (this.home === null && process.env.TZ !== this.#world.zone) this.goHome("the time zone was changed");
    if (this.home !== null) return here(stage, local, inputs);
    const parcel = this.#packed(inputs);
    if (parcel === null) return here(stage, local, inputs);
    if (this.#pool === null) return this.#early(stage, parcel, local, inputs);
    return this.#elsewhere(stage, parcel, local, this.#pool);
  }

  /** Threads may be started when a stage is worth it; for tests, before. */
  begin(): void {
    if (this.#pool !== null || this.home !== null) return;
    const changed = changeOf(this.#world);
    if (changed !== null) return this.goHome(changed);
    this.#pool = this.#start(this.#earlier);
    this.#pool.catch((error: unknown) => this.goHome(String(error)));
  }

  /** All that waits runs here, in the order of the calls. */
  goHome(why: string): void {
    if (this.home !== null) return;
    this.home = why;
    void this.stop();
    for (const { stage, parcel, local, resolve, reject } of this.#pending.splice(0)) {
      stage.refused += 1;
      stage.refusal = why;
      try {
        resolve(here(stage, local, unpackInputs(parcel)));
      } catch (error) {
        reject(error);
      }
    }
  }

  async stop(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    const workers = await pool?.catch(() => null);
    await workers?.stop();
  }

  #packed(inputs: readonly unknown[]): Parcel | null {
    try {
      return packInputs(inputs);
    } catch (error) {
      if (!(error instanceof StageRefusal)) throw error;
      this.goHome(error.message);
      return null;
    }
  }

  /** Here, measured and noted down. */
  #early(stage: Stage, parcel: Parcel, local: Pending["local"], inputs: readonly unknown[]): unknown {
    this.#earlier.push([stage.entry.id, parcel]);
    this.#bytes += bytesOf(parcel);
    if (this.#earlier.length > EARLIER_MAX || this.#bytes > EARLIER_BYTES_MAX)
      this.goHome(`its first ${this.#earlier.length} calls were not worth a worker`);
    const began = performance.now();
    try {
      const value = here(stage, local, inputs);
      if (isThenable(value)) this.goHome("it gives a promise");
      return value;
    } finally {
      stage.worth.tookHere(performance.now() - began);
      if (stage.worth.isMoved) this.begin();
    }
  }

  #elsewhere(stage: Stage, parcel: Parcel, local: Pending["local"], pool: Promise<Workers>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const bound = AsyncResource.bind(local);
      const pending: Pending = { stage, parcel, local: bound, report: null, resolve, reject };
      this.#pending.push(pending);
      pool
        .then((workers) => workers.run(stage.entry.id, parcel))
        .then(
          (parcel) => (parcel === null ? { refused: "its threads have ended" } : unpackReport(parcel)),
          (error: unknown) => ({ refused: String(error) }),
        )
        .then((report) => {
          pending.report = report;
          this.#settle();
        });
    });
  }

  /** What has counted leaves, first come, first served. */
  #settle(): void {
    for (let first = this.#pending[0]; first?.report != null; first = this.#pending[0]) {
      const { stage, report, resolve, reject } = first;
      if ("refused" in report) return this.goHome(report.refused);
      this.#pending.shift();
      stage.inWorkers += 1;
      stage.worth.tookThere(report.busyMs);
      if (report.ok) resolve(report.value);
      else reject(report.value);
      if (!stage.worth.isMoved) return this.goHome("its calls are not worth a worker any more");
    }
  }
}

function here(stage: Stage, local: Pending["local"], inputs: readonly unknown[]): unknown {
  stage.here += 1;
  return local(inputs);
}

function isObject(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isThenable(value: unknown): boolean {
  return isObject(value) && typeof (value as { then?: unknown }).then === "function";
}

function bytesOf(parcel: Parcel): number {
  let bytes = 0;
  for (const each of parcel) bytes += typeof each === "string" ? 2 * each.length : each instanceof Uint8Array ? each.length : 8;
  return bytes;
}

/** What a package may have asked for while it was loaded, and a worker cannot ask for again. */
interface World {
  readonly environment: string;
  readonly zone: string | undefined;
  readonly names: ReadonlySet<string>;
}

function worldNow(): World {
  return {
    environment: JSON.stringify(process.env),
    zone: process.env.TZ,
    names: new Set(Object.getOwnPropertyNames(globalThis)),
  };
}

function changeOf({ environment, names }: World): string | null {
  if (JSON.stringify(process.env) !== environment) return "the program has changed its environment";
  const name = Object.getOwnPropertyNames(globalThis).find((each) => !names.has(each));
  return name === undefined ? null : `the program has made ${name} a global name`;
}

