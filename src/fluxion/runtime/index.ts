/// <reference types="node" preserve="true" />
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../pipeline.js";
import { type Settings, settingsOf } from "./settings.js";
import { type StageCall, type StageStatistics, Stages } from "./stages.js";

/** What compiled programs call. */

export { ask, read } from "./reading.js";

/** Then all of them run here. */
const NO_STAGES = new Stages({ stages: [] }, new URL(import.meta.url), settingsOf({ move: "none" }));
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
export function stage(call: StageCall): Promise<unknown> {
  return (stages ?? NO_STAGES).call(call);
}

/** Runs a call that has a continuation in a worker, or here if that is better. */
export function post(...given: Parameters<Stages["post"]>): void {
  (stages ?? NO_STAGES).post(...given);
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
