import { HeadwaterError } from "../errors.js";

/** What strangers may ask of a server. Everything that grows with what they send has an end. */
export interface ServerLimits {
  /** The body of an HTTP request, or one frame on a socket. */
  readonly bodyBytes: number;
  /** A result, or a message to a client. */
  readonly replyBytes: number;
  /** How deep arguments may be nested. */
  readonly depth: number;
  readonly headerBytes: number;
  /** Connections at a time, of both kinds. */
  readonly connections: number;
  /** Sessions at a time, those included whose client is away. */
  readonly sessions: number;
  /** Requests of one connection that have no answer yet. Above it, the server stops reading from the connection. */
  readonly inFlight: number;
  /** The same in bytes, with the replies to be expected; and as much may wait in one connection to be read. */
  readonly inFlightBytes: number;
  /** The same for all callers together. Each has a share. */
  readonly inFlightBytesTotal: number;
  /** Results that one connection watches. */
  readonly watches: number;
  /** Messages to one client that it has not acknowledged, and their bytes. */
  readonly messages: number;
  readonly messageBytes: number;
  /** Bytes of the messages that wait for all clients together. Each caller has a share. */
  readonly messageBytesTotal: number;
  /** Pings in `pingMs`. */
  readonly pings: number;
  /** For the headers of a request, and for all of it, to arrive. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** For a new socket to say who is calling. */
  readonly helloMs: number;
  /** How often a socket is asked whether its client is there; it must have answered by the next time. */
  readonly pingMs: number;
  /** How often a `tokens` function is asked whether it still knows the token of an open socket. */
  readonly tokenMs: number;
  /** How long a client may leave what it is sent unread. */
  readonly stallMs: number;
  /** How long a session may be without a connection before the program hears that it is gone: `disconnected` of `expose`. */
  readonly awayMs: number;
  /** How long a session waits for a client whose connection was lost. */
  readonly sessionMs: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  bodyBytes: 1024 * 1024,
  replyBytes: 16 * 1024 * 1024,
  depth: 64,
  headerBytes: 16 * 1024,
  connections: 10_000,
  sessions: 10_000,
  inFlight: 1024,
  inFlightBytes: 4 * 1024 * 1024,
  inFlightBytesTotal: 256 * 1024 * 1024,
  watches: 1000,
  messages: 10_000,
  messageBytes: 4 * 1024 * 1024,
  messageBytesTotal: 256 * 1024 * 1024,
  pings: 100,
  headersMs: 10_000,
  requestMs: 30_000,
  helloMs: 10_000,
  pingMs: 15_000,
  tokenMs: 60_000,
  stallMs: 30_000,
  awayMs: 2000,
  sessionMs: 60_000,
};

export function serverLimits(given: Partial<ServerLimits> = {}): ServerLimits {
  const limits = { ...DEFAULT_SERVER_LIMITS, ...given };
  for (const [name, limit] of Object.entries(limits)) {
    if (!(name in DEFAULT_SERVER_LIMITS))
      throw cannotStart(`there is no limit named ${JSON.stringify(name)}`);
    if (!Number.isSafeInteger(limit) || limit <= 0) {
      throw cannotStart(`the limit ${name} must be a whole number above 0, not ${String(limit)}`);
    }
  }
  if (limits.headersMs > limits.requestMs) {
    throw cannotStart("requestMs is for the whole request, so it cannot be less than headersMs");
  }
  return limits;
}

export function cannotStart(why: string, cause?: unknown): HeadwaterError {
  const isTaken = (cause as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
  const fix = isTaken ? " Choose another port, or end the process that has this one." : "";
  return new HeadwaterError(
    "HW-4020",
    `the server cannot be started: ${why}.${fix}`,
    cause === undefined ? {} : { cause },
  );
}
