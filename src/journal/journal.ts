/**
 * What survives, in two parts. The *log* is the order of groups of writes: appending is asynchronous, because a disk or other
 * machines have to agree. The *table* is what the groups add up to: reading is synchronous, because it is local. Contexts,
 * started events, timers, messages and results of requests are all keys and values to both.
 *
 * The interface is as narrow as it is so that a replicated log can stand behind it as well as a local one: a
 * group is then one message with an expected last sequence, and what a file does with an epoch (a stale writer
 * acknowledges nothing) that log does with the expectation. No layer above may assume a directory, a file or a disk.
 */

import type { HeadwaterError } from "../errors.js";
import type { OwnedEngine } from "../model/owned.js";

/** One key and its new value; null deletes it. The journal keeps the value: it must not be changed afterwards. */
export interface Write {
  readonly key: string;
  readonly value: Uint8Array | null;
}

export interface GroupLog {
  /**
   * All of the group or nothing, in the order of the calls. `done` is called, in the same order and never before
   * this call returns, once the group is safe as the durability says, or with an error; after an error no later
   * group succeeds. Many groups may be waiting; they share syncs. When there is no room, groups wait for it. Throws
   * HW-3008, with nothing applied, if a key cannot be stored.
   */
  append(writes: readonly Write[], done: (error: HeadwaterError | null) => void): void;
  /**
   * Why nothing new should be let in (HW-3026); null as a rule. There is still room for what was let in before, and it
   * passes when there is room again.
   */
  refusal(): HeadwaterError | null;
  /** Waits for what was appended; nothing can be appended or read after that. */
  close(): Promise<void>;
}

export interface KeyTable {
  /** The newest value, also of groups that are not safe yet. */
  get(key: string): Uint8Array | undefined;
  /**
   * Keys with this prefix, in the order of their UTF-8 bytes, with the values they have when the iteration starts; only
   * those behind the key `after`, if there is one, so that a range can be read in pages.
   */
  range(prefix: string, after?: string): Iterable<[key: string, value: Uint8Array]>;
}

/** Engines that a process has kept up to date while it followed a log, for the program that it begins there. */
export interface KeptEngines {
  /** The engine whose keys begin so and that has applied so many records; null if there is none. It is the caller's from then on. */
  take(prefix: string, position: number): OwnedEngine | null;
}

export interface Journal extends GroupLog, KeyTable {
  readonly engines?: KeptEngines | undefined;
}

/** Whose journal it is, and which shape its keys and values have. Opening one that differs is refused. */
export interface JournalIdentity {
  /** What the journal is made for, if it is new. */
  readonly program: string;
  readonly format: number;
}

/**
 * When a group counts as safe. `synced`: the disk has it; it survives a crash of the machine. `written`: the
 * operating system has it; it survives a crash of the process, but not one of the machine.
 */
export type Durability = "synced" | "written";
