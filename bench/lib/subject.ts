/** What every measured system offers: a number of counters, each of which does some work and then counts. */
export interface Subject {
  /** Asks one counter for one event. Resolves when the reply is there. */
  call(counter: number, work: number): Promise<unknown>;
  /** Does this error mean that the event took place and only its reply was lost? None is, unless a system says so. */
  isLostReply?(error: unknown): boolean;
  /** The sum of all counters, to show that every event took place exactly once. */
  counted(): Promise<number>;
  stop(): Promise<void>;
}

/** One row of the figures: a system, how it is used, and the row that it is compared with. */
export interface Case {
  readonly name: string;
  readonly baseline: string;
  readonly contexts: number;
  /** Threads or processes that do the work; 1, the main thread, unless it says otherwise. */
  readonly hosts?: number;
  /** By how much one event raises the sum of the counters. */
  readonly countsPerEvent: number;
  /** Where the system keeps what it committed; the baselines keep nothing, Redis has its AOF, PostgreSQL its WAL. */
  readonly journal: "log" | "memory" | "none" | "aof" | "wal";
  start(contexts: number): Promise<Subject>;
}
