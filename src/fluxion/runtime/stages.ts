import { HeadwaterError } from "../../errors.js";
import { factsOfHost } from "../checked/facts.js";
import type { Manifest } from "../pipeline.js";
import { stayAlive } from "./alive.js";
import { Builtins } from "./builtins.js";
import type { StageEntry } from "./manifest.js";
import { type Parcel, packInputs, type Report, unpackInputs, unpackReport } from "./parcel.js";
import type { Pool } from "./pool.js";
import { replay } from "./recorder.js";
import { StageRefusal } from "./refusal.js";
import { changedText } from "./same-texts.js";
import type { Settings } from "./settings.js";
import { WatchedCalls } from "./watched-calls.js";
import type { EarlierWork, WorkerModules } from "./worker-modules.js";
import { Worth } from "./worth.js";

/** One call of a stage, as generated code makes it. */
export interface StageCall {
  readonly id: string;
  /** What the stage reads. */
  readonly inputs: readonly unknown[];
  /** What it has effects on; these objects stay here. */
  readonly receivers: readonly unknown[];
  /** The original code, to be run here instead, perhaps later: it gets the inputs as they were at the call. */
  readonly local: (inputs: readonly unknown[]) => unknown;
}

/** What became of the calls of one stage. */
export interface StageStatistics {
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly isMoved: boolean;
  readonly inWorkers: number;
  /** Measured, or run here although the stage has moved. */
  readonly here: number;
  /** Of those: because something could not be copied (the latest reason), or because too many were waiting. */
  readonly refused: number;
  readonly refusal: string | null;
  readonly noRoom: number;
  /** Calls that ended their worker. */
  readonly lost: number;
  readonly localMs: number | null;
  readonly workerMs: number | null;
  /** The package of which nothing is known, whose calls are watched in workers. */
  readonly watched?: string;
}

/** So many calls of a stage may be refused in a row before it is not sent any more. */
const REFUSED_IN_A_ROW_MAX = 8;

export class RunningStage {
  inWorkers = 0;
  here = 0;
  refused = 0;
  refusedInARow = 0;
  refusal: string | null = null;
  noRoom = 0;
  lost = 0;
  /** Of calls that are watched. */
  fastestHereMs = Number.POSITIVE_INFINITY;
  fastestThereMs = Number.POSITIVE_INFINITY;

  constructor(
    readonly entry: StageEntry,
    readonly worth: Worth,
    /** If its calls are watched: those of its package. */
    readonly watched: WatchedCalls | null = null,
  ) {}
}

/** What runs stages elsewhere: threads, but for tests that say when a stage ends. */
export type Workers = Pick<Pool, "isFull" | "run" | "stop">;
export type StartWorkers = (
  settings: Settings,
  modules: WorkerModules,
  watching: EarlierWork | null,
) => Promise<Workers>;

/** One pool after the other: what threads are given is the same for all that are being started. */
let starting: Promise<unknown> = Promise.resolve();

const startThreads: StartWorkers = async (settings, modules, watching) => {
  const { Pool } = await import("./pool.js");
  const pool = starting.then(() => Pool.start(settings, modules, watching));
  starting = pool.catch(() => {});
  return pool;
};

type Continuation = (...results: readonly unknown[]) => unknown;

/** The stages of a running program: where each call runs, and what becomes of it. */
export class Stages {
  readonly #stages = new Map<string, RunningStage>();
  readonly #watched = new Map<string, WatchedCalls>();
  readonly #settings: Settings;
  readonly #modules: WorkerModules;
  readonly #startWorkers: StartWorkers;
  readonly #builtins = new Builtins();
  readonly #texts: Readonly<Record<string, string>>;
  #changedText: string | null | undefined;
  #starting: Promise<Workers | null> | null = null;
  #pool: Workers | null = null;

  constructor(
    manifest: Pick<Manifest, "stages" | "texts">,
    base: URL,
    settings: Settings,
    startWorkers: StartWorkers = startThreads,
  ) {
    this.#settings = settings;
    this.#texts = manifest.texts ?? {};
    this.#startWorkers = startWorkers;
    for (const entry of manifest.stages) {
      const worth = new Worth(settings.worthMs, decided(entry, settings), settings.move === "measure");
      this.#stages.set(entry.id, new RunningStage(entry, worth, this.#watchedOf(entry, manifest, base)));
    }
    this.#modules = modulesOf(
      manifest.stages.filter(({ watched }) => watched === undefined),
      base,
    );
    for (const { worth, watched } of this.#stages.values()) {
      if (worth.isMoved && watched === null) void this.#start();
    }
  }

  /** Does this call go through `call`, to a worker or to be measured? Otherwise the original code runs as it stands. */
  isMoved(id: string): boolean {
    const stage = this.#stages.get(id);
    if (stage === undefined) return false;
    // Each call of a package that is watched counts, as long as it is.
    if (stage.watched !== null) return !stage.watched.isOver && this.#settings.move !== "none";
    return stage.worth.isMoved || stage.worth.isDue();
  }

  /** Runs a stage. What comes after an `await` runs in the asynchronous context of the caller, effects included. */
  async call(call: StageCall): Promise<unknown> {
    const stage = this.#stages.get(call.id);
    if (stage === undefined) return call.local(call.inputs);
    if (stage.watched !== null) return stage.watched.call(stage, call, this.#change());
    if (!stage.worth.isMoved) return measured(stage, call);
    const change = this.#change();
    if (change !== null) {
      stage.refusal = change;
      stage.worth.stay();
      return here(stage, call);
    }
    if (this.#pool === null && this.#settings.move !== "all") {
      void this.#start(); // until threads are there, stages go on running here
      return here(stage, call);
    }
    if (this.#pool?.isFull === true) {
      stage.noRoom += 1;
      return here(stage, call);
    }
    const parcel = packed(stage, call); // now: later, the inputs may have changed
    if (parcel === null) return here(stage, call);
    const report = await this.#send(stage, parcel);
    if (report === null) return here(stage, { ...call, inputs: unpackInputs(parcel) });
    replay(report.effects, call.receivers);
    if (!report.ok) throw report.value;
    return report.receiver === undefined ? report.value : call.receivers[report.receiver];
  }

  /**
   * Runs a call that has a continuation in a worker, or here if that is better. The continuation runs here, from an empty
   * stack, in the asynchronous context of the caller. A worker that has ended is an error like any other to it; what the
   * call itself has thrown goes where it would have gone.
   */
  post(call: StageCall, continuation: Continuation, thrown: (error: unknown) => unknown): void {
    this.call(call).then(
      (results) => process.nextTick(continuation, ...(results as unknown[])),
      (error) => process.nextTick(isLost(error) ? continuation : thrown, error),
    );
  }

  statistics(): StageStatistics[] {
    return [...this.#stages.values()].map(({ entry, worth, watched, ...counts }) => {
      const { id, name, file, line } = entry;
      const { isMoved, localMs, workerMs } = worth;
      const { inWorkers, here, refused, refusal, noRoom, lost } = counts;
      return {
        id,
        name,
        file,
        line,
        isMoved: isMoved && watched?.home == null,
        inWorkers,
        here,
        refused,
        refusal: watched?.home ?? refusal,
        noRoom,
        lost,
        localMs,
        workerMs,
        ...(watched !== null && { watched: watched.name }),
      };
    });
  }

  async stop(): Promise<void> {
    const mayEnd = stayAlive();
    const pool = await this.#starting;
    await pool?.stop();
    await Promise.all([...this.#watched.values()].map((each) => each.stop()));
    mayEnd();
  }

  #watchedOf({ watched }: StageEntry, { stages }: Pick<Manifest, "stages">, base: URL): WatchedCalls | null {
    if (watched === undefined) return null;
    const name = watched.package;
    const known = this.#watched.get(name);
    if (known !== undefined) return known;
    const modules = modulesOf(
      stages.filter((each) => each.watched?.package === name),
      base,
    );
    const made = new WatchedCalls(name, (earlier) =>
      this.#startWorkers(this.#settings, modules, { host: factsOfHost(), earlier }),
    );
    this.#watched.set(name, made);
    return made;
  }

  /** What has changed since the program was compiled. The first stage that moves is called when the program has read its files. */
  #change(): string | null {
    const builtin = this.#builtins.change(performance.now());
    if (builtin !== null) return `${builtin} is not as the language has it, which workers would not see`;
    if (this.#changedText === undefined) this.#changedText = changedText(this.#texts);
    return this.#changedText === null
      ? null
      : `${this.#changedText} is not what it was when the program was compiled`;
  }

  /** What came back from a worker; null if it has to be done here. */
  async #send(stage: RunningStage, parcel: Parcel): Promise<Exclude<Report, { refused: string }> | null> {
    const pool = this.#pool ?? (await this.#start());
    if (pool === null) return null;
    const reported = await pool.run(stage.entry.id, parcel).catch((error: unknown) => lost(stage, error));
    if (reported === null) return null;
    const report = unpackReport(reported);
    if ("refused" in report) return refused(stage, new StageRefusal(report.refused));
    stage.inWorkers += 1;
    stage.refusedInARow = 0;
    stage.worth.tookThere(report.busyMs);
    return report;
  }

  #start(): Promise<Workers | null> {
    this.#starting ??= (async () => {
      const mayEnd = stayAlive();
      try {
        this.#pool = await this.#startWorkers(this.#settings, this.#modules, null);
        return this.#pool;
      } catch (error) {
        process.emitWarning(`its stages run on the main loop: ${String(error)}`, "HeadwaterFluxions");
        return null;
      } finally {
        mayEnd();
      }
    })();
    return this.#starting;
  }
}

function modulesOf(stages: readonly StageEntry[], base: URL): WorkerModules {
  const places = stages.map(
    ({ id, worker, receivers }) => [id, { module: new URL(worker, base).href, receivers }] as const,
  );
  const modules = new Set(places.map(([, { module }]) => module));
  return { modules: [...modules], stages: Object.fromEntries(places) };
}

function decided({ id, heavy }: StageEntry, { move, profile, worthMs }: Settings): boolean | null {
  if (move !== "auto") return move === "all";
  const ms = profile[id];
  if (ms !== undefined) return ms >= worthMs;
  return heavy === true ? true : null;
}

function here(stage: RunningStage, { local, inputs }: StageCall): unknown {
  stage.here += 1;
  return local(inputs);
}

function packed(stage: RunningStage, { inputs }: StageCall): Parcel | null {
  try {
    return packInputs(inputs);
  } catch (error) {
    return refused(stage, error);
  }
}

function measured(stage: RunningStage, call: StageCall): unknown {
  const began = performance.now();
  try {
    return here(stage, call);
  } finally {
    stage.worth.tookHere(performance.now() - began);
  }
}

function refused(stage: RunningStage, error: unknown): null {
  if (!(error instanceof StageRefusal)) throw error;
  stage.refused += 1;
  stage.refusal = error.message;
  stage.refusedInARow += 1;
  if (stage.refusedInARow >= REFUSED_IN_A_ROW_MAX) stage.worth.stay();
  return null;
}

function lost(stage: RunningStage, error: unknown): never {
  const { name, file, line } = stage.entry;
  stage.lost += 1;
  throw new HeadwaterError(
    "HW-7101",
    `the worker thread that ran ${name} (${file}:${line}) has ended. Look for what ends or exhausts it; what the ` +
      "stage had done until then has had no effect.",
    { cause: error },
  );
}

function isLost(error: unknown): boolean {
  return error instanceof HeadwaterError && error.code === "HW-7101";
}
