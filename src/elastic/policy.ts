/**
 * An elasticity policy is a function from measurements to actions. It is called about once a second, knows neither
 * clock nor chance, and may remember what it saw: the same measurements, in the same order, give the same actions.
 */

/** How busy and how large one subtree of contexts is. It migrates as one. */
export interface ContextLoad {
  /** As the program would write it: `Game.buildings(1)`. */
  readonly context: string;
  /** Which part of its host it keeps busy, from 0 to 1. Sampled. */
  readonly load: number;
  readonly eventsPerSecond: number;
  /** About how large its state is. Sampled. */
  readonly bytes: number;
  /** A rule of placement says where it is; balancing leaves it there. */
  readonly bound?: boolean;
}

export interface HostMeasurements {
  readonly id: number;
  readonly state: "starting" | "running" | "draining";
  /** The part of the time in which its event loop was busy, from 0 to 1. */
  readonly utilisation: number;
  readonly heapBytes: number;
  /** About how large the contexts there are, together. Other than the heap, it holds no garbage. */
  readonly stateBytes: number;
  /** How long events wait on it before they run. */
  readonly queueMs: number;
  /** From ticket to answer, as long as one event in a hundred takes or longer. */
  readonly p99Ms: number;
  readonly eventsPerSecond: number;
  /** The busiest and largest first; not all of them, if there are very many. */
  readonly contexts: readonly ContextLoad[];
}

export interface Measurements {
  readonly timeMs: number;
  readonly hosts: readonly HostMeasurements[];
}

/** What a host can be full of. */
export type Measure = "utilisation" | "heapBytes" | "stateBytes" | "queueMs" | "p99Ms";

/** What contexts are weighed by when they are spread evenly. */
export type Weight = "load" | "bytes";

/** `reason` says in words why: people read it. */
export type Action =
  | { readonly kind: "add"; readonly count: number; readonly reason: string }
  | { readonly kind: "remove"; readonly host: number; readonly reason: string }
  | { readonly kind: "move"; readonly context: string; readonly to: number; readonly reason: string }
  /** Migrates the contexts that even out the hosts best; see `balanced`. */
  | { readonly kind: "balance"; readonly by: Weight; readonly reason: string }
  /** Nothing is done, and this is why. */
  | { readonly kind: "note"; readonly reason: string };

export type Policy = (now: Measurements) => readonly Action[];

/** Something that a policy wanted, and what came of it. */
export interface Decision {
  readonly action: Action;
  /** In words, for people. */
  readonly text: string;
  /** Why it could not be carried out, if so; else null. */
  readonly error: unknown;
}

/** Hosts that take contexts. */
export function running({ hosts }: Measurements): readonly HostMeasurements[] {
  return hosts.filter(({ state }) => state === "running");
}
