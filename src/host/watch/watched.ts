/**
 * What a watched thread and the thread that watches it (`watchdog.ts`, `watchdog-thread.ts`) tell each other. The watching thread
 * loads this file and the codes of errors, and nothing else of the runtime: it must be up before the other is blocked.
 */

/** What the watching thread is told. */
export interface WatchedThread {
  /** Counts the looks of the watched thread. */
  readonly heartbeats: Int32Array;
  readonly lookMs: number;
  /** When to report a blocked thread. */
  readonly reportMs: number;
  /** When to end the process, if a supervisor starts it again. */
  readonly endMs: number | null;
}

/** What it says when the watched thread goes on. */
export interface BlockedFor {
  readonly ms: number;
  /** What the thread was at, in words. */
  readonly by: string;
}

/** Under this name, code in the watched thread can be asked what runs. */
export const RUNNING = "headwater.running";
