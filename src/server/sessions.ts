import { createHash } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import type { Reachable } from "./call.js";
import type { ServerLimits } from "./limits.js";
import { ended, type Listener, Session } from "./session.js";

interface Held {
  readonly session: Session;
  readonly client: { close(): void };
  expiry: ReturnType<typeof setTimeout> | undefined;
}

const SECRET = /^[0-9a-f]{32,64}$/;

/** All sessions of a server. Those whose client is away are kept for a time, and the one away longest goes first. */
export class Sessions {
  readonly #service: Reachable;
  readonly #limits: ServerLimits;
  readonly #held = new Map<string, Held>();
  #departures = 0;
  #messageBytes = 0;

  constructor(
    service: Reachable,
    limits: ServerLimits,
    readonly log: (line: string) => void,
  ) {
    this.#service = service;
    this.#limits = limits;
  }

  /** The session that a client's secret names, and whether there was one. */
  open(owner: string | null, secret: unknown): { session: Session; resumed: boolean } {
    if (typeof secret !== "string" || !SECRET.test(secret)) {
      throw new HeadwaterError("HW-4014", "the secret of a session is 32 to 64 hexadecimal digits.");
    }
    const id = idOf(owner, secret);
    const known = this.#held.get(id);
    if (known !== undefined) return { session: known.session, resumed: true };
    if (this.#held.size >= this.#limits.sessions && !this.#endOldest("there were too many")) {
      throw new HeadwaterError(
        "HW-4013",
        `there are ${this.#limits.sessions} sessions already, all with their clients.`,
      );
    }
    const session = new Session(id, owner, this.#limits);
    const client = this.#service.client(id, (message) => this.#tell(session, message));
    this.#held.set(id, { session, client, expiry: undefined });
    return { session, resumed: false };
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
    held.client.close();
    if (!session.isConnected) this.log(`ended a session whose client was away: ${error.code}`);
    session.end(error);
  }

  endAll(error: HeadwaterError, which: (session: Session) => boolean = () => true): void {
    for (const { session } of [...this.#held.values()]) if (which(session)) this.end(session, error);
  }

  #tell(session: Session, message: unknown): void {
    const before = session.keptBytes;
    const error = session.tell(message);
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
