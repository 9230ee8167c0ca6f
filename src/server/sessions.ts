import { createHash } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import type { Door, Listening, Position, Series } from "../model/door.js";
import { type Share, shareOf } from "../model/share.js";
import type { ServerLimits } from "./limits.js";
import type { Refusals } from "./log.js";
import type { Presence } from "./presence.js";
import { ended, Session, type SessionListener } from "./session.js";

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

/** All sessions of a server. Those whose client is away are kept for a time; when room is needed, a caller's own go first. */
export class Sessions {
  readonly #door: Door;
  readonly #limits: ServerLimits;
  readonly #held = new Map<string, Held>();
  #departures = 0;

  constructor(
    door: Door,
    limits: ServerLimits,
    readonly messages: Share,
    readonly refusals: Refusals,
    readonly presence: Presence | null = null,
  ) {
    this.#door = door;
    this.#limits = limits;
  }

  /** The session that a client's secret names, and whether there was one. */
  open(owner: string | null, caller: string, secret: unknown): Opened {
    if (typeof secret !== "string" || !SECRET.test(secret)) {
      throw new HeadwaterError("HW-4014", "the secret of a session is 32 to 64 hexadecimal digits.");
    }
    const id = idOf(owner, secret);
    const { history } = this.#door;
    const known = this.#held.get(id);
    if (known !== undefined) {
      return { session: known.session, series: known.series, history, resumed: true, complete: true };
    }
    if (this.#held.size >= this.#limits.sessions && !this.#makeRoom(caller)) {
      throw new HeadwaterError(
        "HW-4013",
        `there are ${this.#limits.sessions} sessions already, and none of a caller with more sessions than this one has lost its ` +
          "connection.",
      );
    }
    const held = this.#hold(id, owner, caller);
    return { session: held.session, series: held.series, history, resumed: false, complete: held.isComplete };
  }

  #hold(id: string, owner: string | null, caller: string): Held {
    const payer = { caller, part: id };
    const share = shareOf(this.messages, payer);
    const received = (upTo: Position) => held.listening?.received(upTo);
    const session = new Session(id, owner, caller, share, this.#limits, received);
    const series = this.#door.series(id, payer);
    const held: Held = { session, series, listening: null, isComplete: false, expiry: undefined };
    this.#held.set(id, held); // it may be told what was kept for it before it is known to listen
    try {
      held.listening = this.#door.listen(id, (message, from) => this.#tell(session, message, from));
    } catch (error) {
      this.#held.delete(id);
      session.clear();
      series.leave();
      throw error;
    }
    held.isComplete = held.listening.isComplete;
    if (this.#held.get(id) === held) return held;
    held.listening.forget();
    throw ended("more messages were kept for its client than a session holds");
  }

  /** A connection is gone; the session waits for the next one. */
  left(session: Session, listener: SessionListener): void {
    const held = this.#held.get(session.id);
    if (!session.detach(listener) || held?.session !== session) return;
    session.lostAt = ++this.#departures;
    this.presence?.left(session.id);
    held.expiry = setTimeout(
      () => this.end(session, ended("its client was away too long")),
      this.#limits.sessionMs,
    );
    held.expiry.unref();
  }

  attach(session: Session, listener: SessionListener, seen: unknown): void {
    session.attach(listener, seen);
    this.presence?.arrived(session.id);
    clearTimeout(this.#held.get(session.id)?.expiry);
  }

  end(session: Session, error: HeadwaterError): void {
    const held = this.#held.get(session.id);
    if (held?.session !== session) return;
    this.#held.delete(session.id);
    clearTimeout(held.expiry);
    session.clear();
    held.series.leave();
    held.listening?.forget();
    this.presence?.ended(session.id);
    if (!session.isConnected)
      this.refusals.note("ended a session whose client was away", { what: "session", code: error.code });
    session.end(error);
  }

  endAll(error: HeadwaterError, which: (session: Session) => boolean = () => true): void {
    for (const { session } of [...this.#held.values()]) if (which(session)) this.end(session, error);
  }

  /** The server closes; clients may come back to another one. */
  leaveAll(): void {
    this.presence?.stop();
    for (const { session, series, listening, expiry } of this.#held.values()) {
      clearTimeout(expiry);
      series.leave();
      listening?.leave();
      session.clear();
      session.end(new HeadwaterError("HW-4016", "the session was ended: the server has closed."));
    }
    this.#held.clear();
  }

  #tell(session: Session, message: unknown, from: Position): void {
    const error = session.tell(message, from, (bytes) => this.#makeRoomFor(session, bytes));
    if (error !== null) this.end(session, error);
  }

  /** Ends other sessions of the same caller, the one away longest first, until there is room for a message to this one. */
  #makeRoomFor({ caller, share, id }: Session, bytes: number): boolean {
    while (share.room < bytes) {
      let oldest: Session | null = null;
      for (const { session } of this.#held.values()) {
        if (session.caller === caller && session.id !== id) oldest = longerAway(session, oldest);
      }
      if (oldest === null) return false;
      this.end(oldest, ended("the messages to its caller took up their share"));
    }
    return true;
  }

  /**
   * Ends a session whose client is away, for one more of this caller: of the caller that has most, and never of one that has no
   * more than this one. So no caller loses a session because another caller opens many. False if there is none.
   */
  #makeRoom(caller: string): boolean {
    const counts = new Map<string, number>();
    for (const { session } of this.#held.values())
      counts.set(session.caller, (counts.get(session.caller) ?? 0) + 1);
    const own = counts.get(caller) ?? 0;
    let [found, most]: [Session | null, number] = [null, 0];
    for (const { session } of this.#held.values()) {
      const count = counts.get(session.caller) ?? 0;
      if (session.isConnected || count < most || (session.caller !== caller && count <= own)) continue;
      found = longerAway(session, count > most ? null : found);
      most = count;
    }
    if (found !== null) this.end(found, ended("there were too many"));
    return found !== null;
  }
}

function longerAway(session: Session, than: Session | null): Session | null {
  return session.isConnected || (than !== null && than.lostAt < session.lostAt) ? than : session;
}

/**
 * What the program sees as the caller. Programs tell their callers of each other, so it must not be enough to take a
 * session over: that takes the secret, of which this is a hash. With tokens, a session belongs to one of them.
 */
function idOf(owner: string | null, secret: string): string {
  const id = createHash("sha256").update(secret).digest("base64url").slice(0, 22);
  return owner === null ? id : `${owner}/${id}`;
}
