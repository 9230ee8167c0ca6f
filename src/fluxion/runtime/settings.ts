import { availableParallelism } from "node:os";

/** Which stages go to workers: stages that are worth it, all that can, or none; or none, but each call is measured. */
export const MOVING = ["auto", "all", "none", "measure"] as const;
export type Moving = (typeof MOVING)[number];

export interface Settings {
  readonly threads: number;
  readonly move: Moving;
  /** A stage that keeps its thread busy for less than that is not worth sending. */
  readonly worthMs: number;
  /** Stages that wait for a thread; beyond that they run on the main loop. */
  readonly waitingMax: number;
  /** A stage that keeps its thread busy for longer ends with it; null if it may take as long as it likes. */
  readonly stageMsMax: number | null;
  /** What an earlier run has measured, by stage. */
  readonly profile: Readonly<Record<string, number>>;
}

export const WORTH_MS = 2;
const WAITING_MAX = 1024;

/** Missing settings are taken from the environment, then from here. */
export function settingsOf(given: Partial<Settings>): Settings {
  const { HEADWATER_THREADS, HEADWATER_MOVE } = process.env;
  const threads = Number(HEADWATER_THREADS);
  const move = MOVING.find((each) => each === HEADWATER_MOVE);
  return {
    threads:
      given.threads ?? (Number.isSafeInteger(threads) && threads > 0 ? threads : availableParallelism()),
    move: given.move ?? move ?? "auto",
    worthMs: given.worthMs ?? WORTH_MS,
    waitingMax: given.waitingMax ?? WAITING_MAX,
    stageMsMax: given.stageMsMax ?? null,
    profile: given.profile ?? {},
  };
}
