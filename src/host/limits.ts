/** Every queue has an end. Counts per logical node, unless it says otherwise. */
export interface Limits {
  /** Unfinished events above which requests from outside are refused. */
  readonly inFlight: number;
  /** Unfinished events above which an event may not start more. */
  readonly started: number;
  /** Starts, messages and timers that one event may ask for. */
  readonly effectsPerEvent: number;
  /** Messages on their way to one other logical node. */
  readonly outbox: number;
  /** Outside calls without a result, above which an event may not ask for more. */
  readonly outside: number;
  /** Outside calls that are made at the same time. */
  readonly outsideAtOnce: number;
  /** How long the answer to a request that carries an id is remembered, at least until there are too many. */
  readonly answersMs: number;
  /** Remembered answers of the whole program. */
  readonly answers: number;
  /** With a journal: contexts that stay in memory though no event is in them. */
  readonly contexts: number;
  /** With a journal: how long messages are kept for a client that does not confirm them. */
  readonly messagesMs: number;
  /** With a journal: how many messages are kept for one client; beyond that, the client is given up. */
  readonly messagesPerClient: number;
  /** With a journal: what parked events may take there, of all logical nodes together (docs/hosts.md). */
  readonly parkedBytes: number;
  /**
   * With a journal: how many armed timers are read from it, or go off, at a time. Twice as many are in memory at most,
   * besides those whose events are under way.
   */
  readonly timers: number;
  /**
   * About how much of a context that is being moved travels as one piece, in bytes: hosts do something else in between.
   * The pieces of a large context get larger.
   */
  readonly pieceBytes: number;
  /**
   * With several hosts: how many bytes the arguments of an event or of a call, or what came of one (its result, its effects
   * and the states that it changed), may have on their way between hosts. Beyond that the event fails.
   */
  readonly messageBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  inFlight: 100_000,
  started: 1_000_000,
  effectsPerEvent: 100_000,
  outbox: 1_000_000,
  outside: 1_000_000,
  outsideAtOnce: 100,
  answersMs: 10 * 60 * 1000,
  answers: 1_000_000,
  contexts: 100_000,
  messagesMs: 10 * 60 * 1000,
  messagesPerClient: 10_000,
  timers: 1_000,
  parkedBytes: 64 * 2 ** 20,
  pieceBytes: 16 * 1024,
  messageBytes: 2 ** 28,
};
