import type { Slot } from "../../host/context/index.js";
import { Inbox, Outbox, type ToHead, type ToHost } from "../../host/wire/index.js";
import type { Random } from "../../random.js";

type Later = (what: string, happen: () => void) => void;

/** One direction of a connection: what is sent arrives in order, some time, a few messages at once. */
export class SimLink<M extends ToHost | ToHead> {
  readonly #queue: (Uint8Array | Iterator<M>)[] = [];
  #isCut = false;
  readonly #outbox = new Outbox<M>();
  readonly #inbox: Inbox<M>;

  constructor(
    readonly random: Random,
    readonly later: Later,
    roots: () => ReadonlyMap<string, Slot>,
    arrive: (message: M) => void,
  ) {
    this.#inbox = new Inbox(roots, arrive);
  }

  send(message: M): boolean {
    if (this.#isCut) return true;
    this.#queue.push(this.#packed(message));
    if (this.#queue.length === 1) this.later("link", () => this.#deliver());
    return true;
  }

  /** What is streamed is made when it arrives: it names contexts by their paths, whatever was numbered meanwhile. */
  stream(messages: Iterator<M>): void {
    if (this.#isCut) return;
    this.#queue.push(messages);
    if (this.#queue.length === 1) this.later("link", () => this.#deliver());
  }

  cut(): void {
    this.#isCut = true;
    this.#queue.length = 0;
  }

  #deliver(): void {
    if (this.#isCut) return;
    const some = this.#queue.splice(0, 1 + this.random.int(this.#queue.length));
    if (this.#queue.length > 0) this.later("link", () => this.#deliver());
    for (const each of some) {
      if (each instanceof Uint8Array) this.#arrive(each);
      else
        for (let next = each.next(); !next.done; next = each.next()) this.#arrive(this.#packed(next.value));
    }
  }

  #packed(message: M): Uint8Array {
    this.#outbox.add(message);
    return this.#outbox.batch(0);
  }

  #arrive(bytes: Uint8Array): void {
    this.#inbox.open(bytes);
    while (this.#inbox.next());
  }
}
