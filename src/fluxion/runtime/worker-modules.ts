import type { EarlierCall, HostFacts } from "../checked/index.js";
import type { ReceiverKind } from "./manifest.js";

/** Under this name threads find out what to load. */
export const WORKER_MODULES = "headwater.fluxions";

interface StagePlace {
  readonly module: string;
  readonly receivers: readonly ReceiverKind[];
}

export interface WorkerModules {
  /** The addresses of the generated modules. */
  readonly modules: readonly string[];
  /** Which stage is in which of them, and what it has effects on. */
  readonly stages: Readonly<Record<string, StagePlace>>;
}

/** What threads are given that watch their stages. */
export interface EarlierWork {
  readonly host: HostFacts;
  /** What the main loop has called before, in its order. */
  readonly earlier: readonly EarlierCall[];
}

/** What threads are given. */
export interface WorkerTask extends WorkerModules {
  /** Who has which stage (`claims.ts`). */
  readonly claims: SharedArrayBuffer;
  /** Where and since when the program runs: what it has read while it was loaded must be read alike. */
  readonly folder: string;
  readonly sinceMs: number;
  readonly watching: EarlierWork | null;
}
