import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { RunningEvent } from "../event/index.js";
import type { Limits } from "../ports/index.js";
import type { ToHead } from "../wire/index.js";

/** What the part of a program on a host needs from the world. */
export interface SitePorts {
  soon(task: () => void): void;
  atRest(task: () => void): void;
  run?(task: () => void): void;
  /** Hears which event is about to start. */
  begins?(event: RunningEvent): void;
  /** False if an event has more in it than fits into one message: then nothing of it is sent. */
  send(message: ToHead): boolean;
  broken(error: unknown): void;
}

export interface SiteOptions {
  readonly limits: Limits;
  readonly marks?: Marks | undefined;
  readonly plant?: Plant | undefined;
  /** Are states to be written to a journal? */
  readonly isDurable: boolean;
  /** Without a journal: how many contexts that do not exist stay in memory. */
  readonly unmadeInMemory?: number | undefined;
}
