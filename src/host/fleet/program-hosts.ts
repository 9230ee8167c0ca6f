import type { Colocate } from "../../elastic/placement.js";
import type { ContextClass } from "../../model/context.js";
import type { Target } from "../../model/refs.js";

/** What a host says of itself, about once a second. */
export interface HostLoad {
  /** How busy its event loop was, from 0 to 1. */
  readonly utilisation: number;
  readonly heapBytes: number;
  readonly eventsPerSecond: number;
  /** How long events waited between their tickets and their start there, on average, in milliseconds. */
  readonly queueMs: number;
  /** As long as the slowest of a hundred took, from their tickets to their end there, in milliseconds. */
  readonly p99Ms: number;
}

export type HostState = "starting" | "running" | "draining";

export interface HostInfo {
  readonly id: number;
  readonly state: HostState;
  /** The contexts that are in its memory. */
  readonly contexts: number;
  /** The events that are under way there. */
  readonly events: number;
  /** How often it was lost and replaced. */
  readonly restarts: number;
  /** The member of the cluster whose host it is (docs/cluster.md); null if it belongs to the process that is asked. */
  readonly member: string | null;
  /** What it said last, if it has said anything yet. */
  readonly load: HostLoad | null;
}

/** A reference to a context, or its address, with the name of its logical node in front: `"Game.buildings(1)"`. */
export type NamedContext = Target<unknown> | string;

/** A context that is in the memory of a host. */
export interface ContextInfo {
  /** Its address, as `where`, `move` and `pin` take it. */
  readonly context: string;
  /** The name of its logical node. */
  readonly node: string;
  readonly host: number;
}

/** The hosts of a running program: `hostsOf(service)`. */
export interface ProgramHosts {
  /** The hosts that there are. */
  list(): readonly HostInfo[];
  /** Starts hosts, and resolves with their ids when they take events. What belongs to them is moved there meanwhile. */
  add(count?: number): Promise<readonly number[]>;
  /** Moves everything away from a host, which takes nothing more. */
  drain(host: number): Promise<void>;
  /** Drains a host and ends it. */
  remove(host: number): Promise<void>;
  /**
   * Ends a host at once, as a crash would (a process by SIGKILL), to see what happens then. With a journal it is replaced, and
   * its events start again; without one the program cannot go on.
   */
  kill(host: number): void;
  /**
   * Moves a context, also one that does not exist yet, with the contexts below it, apart from contexts that a rule places
   * by themselves. Resolves when it is there.
   */
  move(context: NamedContext, host: number): Promise<void>;
  /** The contexts that are in the memory of a host. */
  contexts(): readonly ContextInfo[];
  /** The host where a context is, or would be. */
  where(context: NamedContext): number;
  /**
   * Keeps a context, or all with such an address (`"Game.buildings(*)"`), on a host. Resolves when existing ones are
   * there.
   */
  pin(context: NamedContext, host: number): Promise<void>;
  unpin(context: NamedContext): Promise<void>;
  /** Places contexts of these classes by themselves, not with their parents. Resolves when existing ones have moved. */
  separate(...classes: ContextClass[]): Promise<void>;
  /** Places contexts with the same name together. Resolves when existing ones have moved. */
  colocate(rule: Colocate): Promise<void>;
  /** Resolves when everything is where it belongs. */
  settled(): Promise<void>;
}
