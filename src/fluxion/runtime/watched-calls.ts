import { AsyncResource } from "node:async_hooks";
import type { EarlierCall } from "../checked/index.js";
import { type Parcel, packInputs, type Report, unpackReport } from "./parcel.js";
import { StageRefusal } from "./refusal.js";
import type { RunningStage, StageCall, Workers } from "./stages.js";

/** Calls that are noted down while no thread is there: so many, with so many bytes. */
const EARLIER_MAX = 512;
const EARLIER_BYTES_MAX = 4 * 1024 * 1024;

/** After so many calls in workers, a stage whose fastest call took this many times as long as the fastest one here is not worth watching. */
const CALLS_TO_JUDGE = 16;
const SLOWED_MAX = 2;

/** A call that may have run elsewhere. It counts when all calls before it have counted. */
interface Pending {
  readonly stage: RunningStage;
  /** The original code. */
  readonly run: () => unknown;
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
  /** What waited when it went home runs, one call in each turn of the event loop. */
  #isRunning = false;
  #pool: Promise<Workers> | null = null;
  /** Why its stages stay on the main loop from now on. */
  home: string | null = null;

  constructor(
    readonly name: string,
    start: (earlier: readonly EarlierCall[]) => Promise<Workers>,
  ) {
    this.#start = start;
  }

  call(stage: RunningStage, { inputs, local }: StageCall, change: string | null): Promise<unknown> | unknown {
    const { watched } = stage.entry;
    const shared = inputs.findIndex((each, i) => isObject(each) && watched?.own.includes(i) !== true);
    if (this.isOver) return here(stage, local, inputs);
    if (change !== null) this.goHome(change);
    if (shared >= 0) {
      // Others may look at the object next, so it is done now, and what was called before is done before.
      this.goHome(`${stage.entry.inputs[shared] ?? "an input"} is an object, which others may hold`);
      for (let each = this.#pending.shift(); each !== undefined; each = this.#pending.shift()) runHere(each);
      return here(stage, local, inputs);
    }
    if (this.home === null && process.env.TZ !== this.#world.zone) this.goHome("the time zone was changed");
    const parcel = this.home === null ? this.#packed(inputs) : [];
    if (this.#pool === null && this.home === null && stage.worth.isMoved) this.#begin();
    if (this.home === null && this.#pool === null) return this.#early(stage, parcel, local, inputs);
    return new Promise((resolve, reject) => {
      const run = AsyncResource.bind(() => local(inputs));
      const pending: Pending = { stage, run, report: null, resolve, reject };
      this.#pending.push(pending);
      if (this.home === null && this.#pool !== null) this.#send(pending, parcel, this.#pool);
    });
  }

  /** Nothing is watched any more, and nothing waits. */
  get isOver(): boolean {
    return this.home !== null && this.#pending.length === 0 && !this.#isRunning;
  }

  #begin(): void {
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
    this.#isRunning = true;
    setImmediate(this.#runHere);
  }

  /** One after the other, as events: what a call does later comes before the next. */
  readonly #runHere = (): void => {
    const first = this.#pending.shift();
    this.#isRunning = first !== undefined;
    if (first === undefined) return;
    setImmediate(this.#runHere);
    runHere(first);
  };

  async stop(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    const workers = await pool?.catch(() => null);
    await workers?.stop();
  }

  #packed(inputs: readonly unknown[]): Parcel {
    try {
      return packInputs(inputs);
    } catch (error) {
      if (!(error instanceof StageRefusal)) throw error;
      this.goHome(error.message);
      return [];
    }
  }

  /** Here, measured and noted down. */
  #early(
    stage: RunningStage,
    parcel: Parcel,
    local: StageCall["local"],
    inputs: readonly unknown[],
  ): unknown {
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
      const tookMs = performance.now() - began;
      stage.worth.tookHere(tookMs);
      stage.fastestHereMs = Math.min(stage.fastestHereMs, tookMs);
    }
  }

  #send(pending: Pending, parcel: Parcel, pool: Promise<Workers>): void {
    pool
      .then((workers) => workers.run(pending.stage.entry.id, parcel))
      .then(
        (reported) => (reported === null ? { refused: "its threads have ended" } : unpackReport(reported)),
        (error: unknown) => ({ refused: String(error) }),
      )
      .then((report) => {
        pending.report = report;
        if (this.home === null) this.#settle();
      });
  }

  /** What has counted leaves, first come, first served. */
  #settle(): void {
    for (let first = this.#pending[0]; first?.report != null; first = this.#pending[0]) {
      const { stage, report, resolve, reject } = first;
      if ("refused" in report) {
        stage.refused += 1;
        stage.refusal = report.refused;
        return this.goHome(report.refused);
      }
      this.#pending.shift();
      stage.inWorkers += 1;
      stage.worth.tookThere(report.busyMs);
      if (report.ok) resolve(report.value);
      else reject(report.value);
      stage.fastestThereMs = Math.min(stage.fastestThereMs, report.busyMs);
      if (!stage.worth.isMoved) return this.goHome("its calls are not worth a worker any more");
      const slowed = stage.fastestThereMs / stage.fastestHereMs;
      if (stage.inWorkers >= CALLS_TO_JUDGE && slowed > SLOWED_MAX)
        return this.goHome(`it takes ${slowed.toFixed(1)} times as long when it is watched`);
    }
  }
}

function runHere({ stage, run, resolve, reject }: Pending): void {
  stage.here += 1;
  try {
    resolve(run());
  } catch (error) {
    reject(error);
  }
}

function here(stage: RunningStage, local: StageCall["local"], inputs: readonly unknown[]): unknown {
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
  for (const each of parcel)
    bytes += typeof each === "string" ? 2 * each.length : each instanceof Uint8Array ? each.length : 8;
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
