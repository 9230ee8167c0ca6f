/** Every queue has an end. Counts per logical node, unless it says otherwise. */
export interface Limits {
  /** Unfinished events above which requests from outside are refused. */
  readonly inFlight: number;
  /** Unfinished events above which an event may not start more. */
  readonly started: number;
  /** Starts, messages and timers that one event may ask for. */
  readonly effectsPerEvent: number;
  /** Contexts that one `this.event.delete` may delete. */
  readonly deletes: number;
  /** Messages on their way to one other logical node. */
  readonly outbox: number;
  /** Outside calls without a result, above which an event may not ask for more. */
  readonly outside: number;
  /** Outside calls that are made at the same time. */
  readonly outsideAtOnce: number;
  /** How long the answer to a request that carries an id is kept at least, not counting the time that the program is down. */
  readonly answersMs: number;
  /** Without a journal: bytes of memory for the answers of the whole program. */
  readonly answerBytes: number;
  /** With a journal: bytes of it for the answers of the whole program, since it was started. */
  readonly answerBytesInJournal: number;
  /** With a journal: contexts that stay in memory though no event is in them. */
  readonly contexts: number;
  /** With a journal: how long messages are kept for a client that does not confirm them, and how long a client may be away. */
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
  /** The same in bytes. */
  readonly messageBytesPerClient: number;
  /** With a journal: bytes of the messages that are kept for all clients. Each has a share. */
  readonly mailboxBytes: number;
  /**
   * About how much of a context that is being migrated travels as one piece, in bytes: hosts do something else in between.
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
  deletes: 10_000,
  outbox: 1_000_000,
  outside: 1_000_000,
  outsideAtOnce: 100,
  answersMs: 10 * 60 * 1000,
  answerBytes: 512 * 2 ** 20,
  answerBytesInJournal: 4 * 2 ** 30,
  contexts: 100_000,
  messagesMs: 10 * 60 * 1000,
  messagesPerClient: 10_000,
  timers: 1_000,
  parkedBytes: 64 * 2 ** 20,
  messageBytesPerClient: 4 * 2 ** 20,
  mailboxBytes: 256 * 2 ** 20,
  pieceBytes: 16 * 1024,
  messageBytes: 2 ** 28,
};

/** So many hosts at most: more would not fit into a machine. */
export const HOSTS_MAX = 256;
