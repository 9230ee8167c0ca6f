import { Lease, type Share } from "../model/share.js";
import type { CallerLoad } from "./caller-load.js";
import type { Called } from "./expected-reply.js";
import type { ServerLimits } from "./limits.js";

/** What to call when a connection may go on: two functions, because it may wait for both. */
export interface GoOn {
  readonly withRoom: () => void;
  readonly inTurn: () => void;
}

/** The requests of one connection that have no answer yet. */
export class InFlight {
  readonly #limits: ServerLimits;
  readonly #lease: Lease;
  #count = 0;
  #isOver = false;

  constructor(
    limits: ServerLimits,
    readonly share: Share,
    readonly load: CallerLoad,
  ) {
    this.#limits = limits;
    this.#lease = new Lease(share);
  }

  get count(): number {
    return this.#count;
  }

  /** May a request begin? If not, goes on in the caller's next turn, or when something of the caller's share is given back. */
  mayBegin(bytes: number, called: Called | undefined, unread: number, goOn: GoOn): boolean {
    if (!this.#hasRoomFor(bytes, called, unread)) {
      this.load.awaitRoom(this.share.within ?? this.share, goOn.withRoom);
      return false;
    }
    const mayBegin = this.load.begins();
    if (!mayBegin) this.load.awaitTurn(goOn.inTurn);
    return mayBegin;
  }

  /**
   * Is there room for a request of this size, with the reply to be expected and so many bytes in the connection that its client has not read?
   * One may in any case if the connection has none, and the caller holds less than this one takes: or it could never begin.
   */
  #hasRoomFor(bytes: number, called: Called | undefined, unread: number): boolean {
    const { inFlight, inFlightBytes } = this.#limits;
    if (this.#count >= inFlight) return false;
    const wanted = bytes + this.#expected(called);
    const isIdle = this.#count === 0 && unread === 0;
    if (!isIdle && this.#lease.used + unread + wanted > inFlightBytes) return false;
    return this.#lease.hasRoomFor(wanted) || (isIdle && this.#callerHolds < wanted);
  }

  /** A request of this size begins. Returns what it takes, with the reply to be expected; `end` gives that back. */
  begin(bytes: number, called: Called | undefined): number {
    const taken = bytes + this.#expected(called);
    this.#count += 1;
    this.#lease.use(taken);
    return taken;
  }

  #expected(called: Called | undefined): number {
    return Math.min(called?.expectedBytes ?? 0, this.#limits.replyBytes);
  }

  get #callerHolds(): number {
    return (this.share.within ?? this.share).held;
  }

  end(bytes: number): void {
    this.#count -= 1;
    this.#lease.use(-bytes);
    if (this.#count === 0 && this.#isOver) this.#lease.clear();
  }

  /** The connection is closed: nothing begins any more. */
  stop({ withRoom, inTurn }: GoOn): void {
    this.load.forget(withRoom, inTurn);
    this.#isOver = true;
    if (this.#count === 0) this.#lease.clear();
  }

  /** How large a reply may be, with so many bytes in the connection that its client has not read. */
  roomForReply(unread: number): number {
    const { replyBytes, inFlightBytes } = this.#limits;
    const own = unread === 0 ? replyBytes : inFlightBytes - unread;
    return Math.min(replyBytes, own, this.share.room);
  }
}
