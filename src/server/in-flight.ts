import { Lease, type Share } from "../model/share.js";
import type { Called } from "./call.js";
import type { ServerLimits } from "./limits.js";

/** So many requests may be under way in any case, however large the replies to be expected. */
const REQUESTS_MIN = 32;

/** The requests of one connection that have no answer yet. */
export class InFlight {
  readonly #limits: ServerLimits;
  readonly #lease: Lease;
  #count = 0;
  #isWaiting = false;
  #isOver = false;

  constructor(
    limits: ServerLimits,
    readonly share: Share,
  ) {
    this.#limits = limits;
    this.#lease = new Lease(share);
  }

  get count(): number {
    return this.#count;
  }

  /** May one more begin? */
  get hasRoom(): boolean {
    const { inFlight, inFlightBytes } = this.#limits;
    return this.#count < inFlight && this.#lease.used < inFlightBytes && this.#lease.hasRoomFor(1);
  }

  /** A request of this size begins. Returns what it takes, with the reply to be expected; `end` gives that back. */
  begin(bytes: number, called: Called | undefined): number {
    const most = Math.ceil(this.#limits.inFlightBytes / REQUESTS_MIN);
    const taken = bytes + Math.min(called?.expectedBytes ?? 0, most);
    this.#count += 1;
    this.#lease.use(taken);
    return taken;
  }

  end(bytes: number): void {
    this.#count -= 1;
    this.#lease.use(-bytes);
    if (this.#count === 0 && this.#isOver) this.#lease.clear();
  }

  /** The connection is closed: nothing begins any more. */
  stop(): void {
    this.#isOver = true;
    if (this.#count === 0) this.#lease.clear();
  }

  /** Calls back when there may be room again, if it is other connections that have taken it. */
  wait(look: () => void): void {
    if (this.#isWaiting || this.#count > 0 || this.#lease.hasRoomFor(1)) return;
    this.#isWaiting = true;
    this.share.wait(() => {
      this.#isWaiting = false;
      look();
    });
  }

  /** How large a reply may be, with so many bytes in the connection that its client has not read. */
  roomForReply(unread: number): number {
    const { replyBytes, inFlightBytes } = this.#limits;
    const own = unread === 0 ? replyBytes : inFlightBytes - unread;
    return Math.min(replyBytes, own, this.share.room);
  }
}
