import type { OwnedEngine } from "../model/owned.js";

/** An event that may have changed something: the context that it was an event of, and its method. */
export type EventChange = readonly [context: string, method: string];

/** An engine of a context whose events run in another process, as this process has it: it must not be changed. */
export interface FollowedEngine {
  readonly engine: OwnedEngine;
  /** How many records it has applied. */
  readonly position: number;
}

/** Copies of engines that a process of a cluster keeps up to date from the log. */
export interface EngineCopies {
  /** Null: this process has none. Ask again each time: it may be given up at any moment. */
  of(context: string, field: string): FollowedEngine | null;
  /** Calls back when the copy of an engine of a context has applied something, is new, or is given up. Returns how to stop that. */
  onGrown(listener: (context: string) => void): () => void;
}

export interface ChangeWatcher {
  /**
   * Events were carried out, asked for by this process or by another; null if any may have been, as after a change of heads. What this
   * process keeps of the program's state has to be up to date when the promise resolves.
   */
  changed(changes: readonly EventChange[] | null): Promise<void>;
  /** This process has become the head, or is the head no longer. */
  role(isHead: boolean): void;
}

/** What a process of a cluster hears of the others, for services that keep something of the program's state in each process. */
export interface ClusterSide {
  readonly isHead: boolean;
  /** From now on this watcher hears of all changes. There is one at most. */
  watch(watcher: ChangeWatcher): void;
  /** Has the watcher heard of everything that was announced strictly, whatever happens to the network at this moment? */
  readonly isCurrent: boolean;
  /**
   * Resolves when the watchers of all processes have heard of these changes. If `isStrict`, a process whose watcher has not heard of them
   * is not current from then on; else a process that hangs is waited for only for a while.
   */
  announce(changes: readonly EventChange[], isStrict: boolean): Promise<void>;
  readonly copies: EngineCopies;
}

/** Under this name a running service has it, if it is part of a cluster. */
export const CLUSTER: unique symbol = Symbol("cluster");
