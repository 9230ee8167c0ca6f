import { createHash } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import type { Door, Listening, Position, Series } from "../model/door.js";
import type { ServerLimits } from "./limits.js";
import { ended, type Listener, Session } from "./session.js";

interface Held {
  readonly session: Session;
  readonly series: Series;
  /** Null until the service knows of it. */
  listening: Listening | null;
  isComplete: boolean;
  expiry: ReturnType<typeof setTimeout> | undefined;
}

interface Opened {
  readonly session: Session;
  readonly series: Series;
  readonly history: string;
  readonly resumed: boolean;
  /** Has the service kept what the session's client has not got? */
  readonly complete: boolean;
}

const SECRET = /^[0-9a-f]{32,64}$/;

/** All sessions of a server. Those whose client is away are kept for a time, and the one away longest goes first. */
export class Sessions {
  readonly #door: Door;
  readonly #limits: ServerLimits;
  readonly #held = new Map<string, Held>();
  #departures = 0;
  #messageBytes = 0;

  constructor(
    door: Door,
    limits: ServerLimits,
    readonly log: (line: string) => void,
  ) {
    this.#door = door;
    this.#limits = limits;
  }

  /** The session that a client's secret names, and whether there was one. */
  open(owner: string | null, secret: unknown): Opened {
    if (typeof secret !== "string" || !SECRET.test(secret)) {
      throw new HeadwaterError("HW-4014", "the secret of a session is 32 to 64 hexadecimal digits.");
    }
    const id = idOf(owner, secret);
    const { history } = this.#door;
    const known = this.#held.get(id);
    if (known !== undefined) {
      return { session: known.session, series: known.series, history, resumed: true, complete: true };
    }
    if (this.#held.size >= this.#limits.sessions && !this.#endOldest("there were too many")) {
      throw new HeadwaterError(
        "HW-4013",
        `there are ${this.#limits.sessions} sessions already, all with their clients.`,
      );
    }
    const held = this.#hold(id, owner);
    return { session: held.session, series: held.series, history, resumed: false, complete: held.isComplete };
  }

  #hold(id: string, owner: string | null): Held {
    const session = new Session(id, owner, this.#limits, (upTo) => held.listening?.received(upTo));
    const series = this.#door.series(id);
    const held: Held = { session, series, listening: null, isComplete: false, expiry: undefined };
    this.#held.set(id, held); // it may be told what was kept for it before it is known to listen
    try {
      held.listening = this.#door.listen(id, (message, from) => this.#tell(session, message, from));
    } catch (error) {
      this.#held.delete(id);
      series.leave();
      throw error;
    }
    held.isComplete = held.listening.isComplete;
    if (this.#held.get(id) === held) return held;
    held.listening.forget();
    throw ended("more messages were kept for its client than a session holds");
  }

  /** A connection is gone; the session waits for the next one. */
  left(session: Session, listener: Listener): void {
    const held = this.#held.get(session.id);
    if (!session.detach(listener) || held?.session !== session) return;
    session.lostAt = ++this.#departures;
    held.expiry = setTimeout(
      () => this.end(session, ended("its client was away too long")),
      this.#limits.sessionMs,
    );
    held.expiry.unref();
  }

  acknowledge(session: Session, sequence: unknown): void {
    const before = session.keptBytes;
    session.acknowledge(sequence);
    this.#messageBytes += session.keptBytes - before;
  }

  attach(session: Session, listener: Listener, seen: unknown): void {
    const before = session.keptBytes;
    session.attach(listener, seen);
    clearTimeout(this.#held.get(session.id)?.expiry);
    this.#messageBytes += session.keptBytes - before;
  }

  end(session: Session, error: HeadwaterError): void {
    const held = this.#held.get(session.id);
    if (held?.session !== session) return;
    this.#held.delete(session.id);
    clearTimeout(held.expiry);
    this.#messageBytes -= session.keptBytes;
    held.series.leave();
    held.listening?.forget();
    if (!session.isConnected) this.log(`ended a session whose client was away: ${error.code}`);
    session.end(error);
  }

  endAll(error: HeadwaterError, which: (session: Session) => boolean = () => true): void {
    for (const { session } of [...this.#held.values()]) if (which(session)) this.end(session, error);
  }

  /** The server closes; clients may come back to another one. */
  leaveAll(): void {
    for (const { session, series, listening, expiry } of this.#held.values()) {
      clearTimeout(expiry);
      series.leave();
      listening?.leave();
      session.end(new HeadwaterError("HW-4016", "the session was ended: the server has closed."));
    }
    this.#held.clear();
    this.#messageBytes = 0;
  }

  #tell(session: Session, message: unknown, from: Position): void {
    const before = session.keptBytes;
    const error = session.tell(message, from);
    this.#messageBytes += session.keptBytes - before;
    if (error !== null) this.end(session, error);
    while (this.#messageBytes > this.#limits.messageBytesTotal) {
      if (!this.#endOldest("the messages of all clients took too much room")) return;
    }
  }

  /** Ends the session whose client is away longest. False if none is. */
  #endOldest(why: string): boolean {
    let oldest: Session | null = null;
    for (const { session } of this.#held.values()) {
      if (!session.isConnected && session.lostAt < (oldest?.lostAt ?? Infinity)) oldest = session;
    }
    if (oldest === null) return false;
    this.end(oldest, ended(why));
    return true;
  }
}

/**
 * What the program sees as the caller. Programs tell their callers of each other, so it must not be enough to take a
 * session over: that takes the secret, of which this is a hash. With tokens, a session belongs to one of them.
 */
function idOf(owner: string | null, secret: string): string {
  const id = createHash("sha256").update(secret).digest("base64url").slice(0, 22);
  return owner === null ? id : `${owner}/${id}`;
}
