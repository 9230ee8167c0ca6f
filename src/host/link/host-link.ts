import type { Ticket } from "../../core/event.js";
import type { BatchReceiver, Carrier } from "../../net/index.js";
import type { HostLoad } from "../fleet/index.js";
import type { ContextSample } from "../load/index.js";
import type { Limits } from "../ports/index.js";
import type { Outline } from "../program-module.js";

/** What a host is told when it starts. */
export interface HostTask {
  readonly module: string;
  /** What it is to find there. */
  readonly outline?: Outline | undefined;
  readonly limits: Limits;
  readonly isDurable: boolean;
  /** How much memory its heap may take; Node decides if it is not given. */
  readonly heapMb?: number | undefined;
}

/** What the two ends say to each other beside the batches of messages about events. */
export type Aside =
  | { readonly kind: "task"; readonly task: HostTask }
  | { readonly kind: "ready" }
  /** It could not load the program, and ends. */
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  /** The host's event loop says the same number back. */
  | { readonly kind: "heartbeat"; readonly heartbeat: number }
  /** Something that the program's owner should know of. */
  | { readonly kind: "warns"; readonly code: string; readonly message: string }
  | LastWords
  /** What does the host run? Asked of the process of a host on another machine, which can say so also when the host is blocked. */
  | { readonly kind: "whatRuns" }
  | { readonly kind: "runs"; readonly running: RunningEventId | null }
  /** The head takes no host from there. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** The head does not need this host any more. */
  | { readonly kind: "dismissed" }
  | LostWords
  /** How the host is doing, about once a second. */
  | HostReport;

/** What a host that ends by itself says of that, if it still can. */
export interface LastWords {
  readonly kind: "ends";
  /** The uncaught error, if there was one. */
  readonly error: string | null;
  readonly running: RunningEventId | null;
}

/** What its process says of a host that has ended. */
export interface LostWords {
  readonly kind: "lost";
  readonly why: string;
  readonly running: RunningEventId | null;
}

export interface HostReport {
  readonly kind: "load";
  readonly load: HostLoad;
  readonly samples: readonly ContextSample[];
}

/** Which event a host was last told to go on with, by the number of its logical node and its ticket. */
export type RunningEventId = readonly [node: number, ticket: Ticket];

/** A host as its head holds on to it: a thread, a process, or a host of another member of the cluster. */
export interface HostLink extends Carrier<Aside> {
  readonly kind: "thread" | "process" | "member";
  /** The member of the cluster that it is part of, if that is another one. */
  readonly member?: string;
  /** Asks what the host is at, also when its event loop is blocked; null if it is at nothing that is known. */
  running(answer: (running: RunningEventId | null) => void): void;
  /** Ends it at once. */
  kill(): void;
  /** Ends it, and resolves when it has ended. */
  close(): Promise<void>;
}

/** What the head hears of a host. */
export interface LinkEvents extends BatchReceiver<Aside> {
  /** It has ended, or cannot be understood. */
  lost(why: Error): void;
}

export type OpenLink = (task: HostTask, on: LinkEvents) => HostLink;

/**
 * Young objects die young, and thousands of them are in flight: room for them costs less than moving them. But a thread that
 * reaches the end of its heap may take only 16 MB more until it has ended; if that is not enough, V8 ends the whole process.
 * So what survives one collection of young objects, at most a third of this, has to be clearly less.
 */
export const YOUNG_GENERATION_MB = 32;

/** An uncaught error in the code of a host, in words. */
export function uncaught(error: unknown): string {
  return `of an uncaught error, ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
}

/** What stands for "nothing" where a host notes what it is at. */
export const NOTHING_RUNS = -1;

export function runningIn(noted: Float64Array): RunningEventId | null {
  const [node, ticket] = noted;
  return node === undefined || ticket === undefined || node === NOTHING_RUNS
    ? null
    : [node, ticket as Ticket];
}
