import type { ChangeWatcher, EventChange } from "../host/cluster-side.js";
import { LEASE_MS } from "./change-feed.js";
import type { GatewayMessage, HeadMessage } from "./relayed.js";

type ChangeMessage = Extract<HeadMessage, { readonly kind: "changed" | "pong" | "announced" }>;
type Announce = Extract<GatewayMessage, { readonly kind: "announce" }>;

const PING_MS = LEASE_MS / 4;

/** A gateway's end of `ChangeFeed`: its watcher hears of what others have changed, in order and one thing at a time. */
export class Watching {
  readonly #send: (message: GatewayMessage) => void;
  #watcher: ChangeWatcher | null = null;
  #pinging: NodeJS.Timeout | null = null;
  /** Counts the heads. What the watcher deals with for an earlier one is not confirmed to the next. */
  #heads = 0;
  #isAttached = false;
  /** Has the watcher dealt with all that may have changed before this head was connected? */
  #isComplete = false;
  /** When the last question was sent that the head has answered. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #dealing: Promise<void> = Promise.resolve();
  #announced = 0;
  readonly #announcements = new Map<number, { readonly message: Announce; readonly done: () => void }>();

  constructor(send: (message: GatewayMessage) => void) {
    this.#send = send;
  }

  get isCurrent(): boolean {
    return this.#isAttached && this.#isComplete && performance.now() - this.#answeredMs < LEASE_MS;
  }

  watch(watcher: ChangeWatcher): void {
    this.#watcher = watcher;
    this.#pinging ??= setInterval(() => this.#ping(), PING_MS).unref();
    if (this.#isAttached) this.attached();
  }

  /** There is a head. */
  attached(): void {
    this.#isAttached = true;
    this.#isComplete = false;
    this.#heads += 1;
    for (const { message } of this.#announcements.values()) this.#send(message);
    if (this.#watcher === null) return;
    this.#send({ kind: "watch" });
    this.#ping();
    this.#deal(null, () => {
      this.#isComplete = true;
    });
  }

  detached(): void {
    this.#isAttached = false;
  }

  /** This process hears nothing more. */
  end(): void {
    this.detached();
    if (this.#pinging !== null) clearInterval(this.#pinging);
    this.#watcher = null;
    for (const { done } of this.#announcements.values()) done();
    this.#announcements.clear();
  }

  take(message: ChangeMessage): void {
    switch (message.kind) {
      case "pong":
        this.#answeredMs = message.sentMs;
        return;
      case "announced":
        this.#announcements.get(message.id)?.done();
        this.#announcements.delete(message.id);
        return;
      case "changed":
        this.#deal(message.changes, () => this.#send({ kind: "seen", change: message.change }));
    }
  }

  announce(changes: readonly EventChange[], isStrict: boolean): Promise<void> {
    this.#announced += 1;
    const message: Announce = { kind: "announce", id: this.#announced, changes, isStrict };
    return new Promise((done) => {
      this.#announcements.set(message.id, { message, done });
      this.#send(message);
    });
  }

  #ping(): void {
    if (this.#isAttached) this.#send({ kind: "ping", sentMs: performance.now() });
  }

  #deal(changes: readonly EventChange[] | null, dealt: () => void): void {
    const head = this.#heads;
    this.#dealing = this.#dealing.then(async () => {
      if (head !== this.#heads) return; // the next head tells everything anew
      try {
        await this.#watcher?.changed(changes);
      } catch {
        return; // it is not confirmed, so the head closes the connection, and all is told anew
      }
      if (head === this.#heads && this.#isAttached) dealt();
    });
  }
}
