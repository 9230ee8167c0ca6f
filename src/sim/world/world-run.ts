import type { CommitOrder } from "../../core/core.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { Slot } from "../../host/context/index.js";
import type { Ports } from "../../host/ports/index.js";
import type { ContextClass } from "../../model/context.js";
import type { Step } from "../../model/path.js";
import type { RunLog } from "../oracle/index.js";

/** One request from outside. */
export interface WorldRequest {
  readonly node: string;
  readonly path: readonly Step[];
  readonly method: string;
  readonly args: readonly unknown[];
  readonly client: string | null;
  /** Index of an earlier request that must be acknowledged before this one is made. */
  readonly after: number | null;
}

/** What a program that was not generated brings along: the callers that make its requests, and what its code needs of the world. */
export interface Visitors {
  /** The names of its clients, which are connected all the time. */
  readonly clients: readonly string[];
  /** How many steps the run may take. */
  readonly stepsMax: number;
  /** Does the run end with the first crash? Then its states are what the next process would find. */
  readonly endsAtCrash: boolean;
  /** May the machine's clock be set now and then? */
  readonly clockJumps: boolean;
  /** Classes for the next process or host: each loads the program for itself. */
  classes(): Readonly<Record<string, ContextClass>>;
  answered(request: number, isDone: boolean, value: unknown): void;
  told(client: string, message: unknown): void;
  failed(event: string, error: unknown): void;
  /** Runs code of the program that is part of an event. */
  within(task: () => void): void;
  /** Calls an outside function. */
  outside: NonNullable<Ports["callOutside"]>;
  /** Up to which moment timers go off, if there are outside calls without a result or not. */
  endsAt(hasOutsideCalls: boolean): number;
}

/** A context that has a state, when a run is over. */
export interface FinalContext {
  readonly slot: Slot;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface WorldOptions {
  readonly commitOrder: CommitOrder;
  readonly marks: Marks;
  readonly plant?: Plant | undefined;
  /** With a journal on a disk, and crashes. */
  readonly crashes?: boolean | undefined;
  /** On several hosts. */
  readonly hosts?: boolean | undefined;
  /** For a program that was not generated. */
  readonly visitors?: Visitors | undefined;
}

export interface WorldRun {
  readonly log: RunLog;
  readonly hash: string;
  readonly steps: number;
  /** What is still open although nothing moves any more; null if everything came to rest. */
  readonly stuck: string | null;
  readonly contexts: readonly FinalContext[];
}
