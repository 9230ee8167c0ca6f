/**
 * What a replicated log must do for a journal; all that knows NATS stands behind it (`nats-log.ts`). The simulator has a second
 * implementation with seeded failures (`sim/world/sim-log.ts`), and both pass the same tests (`test/cluster/log-port.test.ts`).
 *
 * A log is a list of messages at positions 1, 2, 3, … Each message is published for one position and lands there or nowhere, so
 * publishing the same bytes for the same position again is harmless, and a position that is taken is a fence.
 */

export interface LogMessage {
  readonly position: number;
  readonly bytes: Buffer;
}

/**
 * `landed`: the message is at its position, and a quorum has it. `refused`: the end of the log was elsewhere. `unknown`: no
 * answer came; the message may have landed, and may still land.
 */
export type PublishOutcome = "landed" | "refused" | "unknown";

export interface LogReader {
  /** In order and without gaps. */
  message(message: LogMessage): void;
  /** The next position has been cut off: the reader needs a snapshot. Nothing follows. */
  cut(first: number): void;
}

export interface Following {
  stop(): void;
}

export interface KeptPart {
  readonly bytes: Buffer;
  readonly version: number;
}

export interface LogPort {
  /** Which log it is, in hexadecimal: tables of other logs are useless. */
  readonly id: string;
  /** Calls `done` once, never before it returns. Several may be on their way. */
  publish(position: number, bytes: Buffer, done: (outcome: PublishOutcome) => void): void;
  /** The last message; position 0 and no bytes if there was none. It may be stale. Rejects if nothing can be learned. */
  last(): Promise<LogMessage>;
  /** Hands on every message behind that position, and all later ones. */
  follow(after: number, reader: LogReader): Following;
  /** Keeps a part of a snapshot under a name. */
  putPart(name: string, bytes: Buffer): Promise<void>;
  /** Null if there is none. */
  getPart(name: string): Promise<KeptPart | null>;
  /** Keeps a part instead of the one of this version, 0 for none; false if there is another one by now. */
  replacePart(name: string, bytes: Buffer, version: number): Promise<boolean>;
  /** Forgets the parts `PREFIX.…`. */
  dropParts(prefix: string): Promise<void>;
  /** Removes the messages up to this position. Removing what is gone already does nothing. */
  cut(position: number): Promise<void>;
  /** Tells all other members something of passing interest. It may get lost. */
  say(bytes: Buffer): void;
  /** Hears what members say, this one included. */
  hear(listener: (bytes: Buffer) => void): Following;
  /** Calls back after a while. */
  later(ms: number, callback: () => void): void;
  close(): Promise<void>;
}
