import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../../errors.js";
import type { Manifest } from "../pipeline.js";
import { type Settings, settingsOf } from "./settings.js";
import { type Call, type StageStatistics, Stages } from "./stages.js";

/** What compiled programs call. */

let stages: Stages | null = null;

export interface Installed extends Partial<Settings> {
  /** Its address. The modules for workers are named relative to it. */
  readonly manifest: string;
}

/** Makes the stages of a compiled program known, before it runs. */
export function install({ manifest, ...given }: Installed): void {
  const text = readFileSync(fileURLToPath(manifest), "utf8");
  stages = new Stages(JSON.parse(text) as Manifest, new URL(manifest), settingsOf(given));
}

/** If not, the original code runs as it stands. If so, it is to be asked for by `stage`. */
export function isMoved(id: string): boolean {
  return stages?.isMoved(id) === true;
}

/** Runs a stage in a worker, or here if that is better. */
export function stage(call: Call): Promise<unknown> {
  if (stages === null) return Promise.resolve(call.inputs).then(call.local);
  return stages.call(call);
}

type Continuation = (...results: readonly unknown[]) => unknown;

/**
 * Runs a call that has a continuation in a worker, or here if that is better. The continuation runs here, from an empty
 * stack, in the asynchronous context of the caller. A worker that has ended is an error like any other to it; what the
 * call itself has thrown goes where it would have gone.
 */
export function post(call: Call, continuation: Continuation, thrown: (error: unknown) => unknown): void {
  stage(call).then(
    (results) => process.nextTick(continuation, ...(results as unknown[])),
    (error) => process.nextTick(isLost(error) ? continuation : thrown, error),
  );
}

function isLost(error: unknown): boolean {
  return error instanceof HeadwaterError && error.code === "HW-7101";
}

export function statistics(): StageStatistics[] {
  return stages?.statistics() ?? [];
}

/** Ends the threads. Stages run on the main loop from then on. */
export async function uninstall(): Promise<void> {
  const ending = stages;
  stages = null;
  await ending?.stop();
}
