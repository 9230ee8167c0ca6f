import { Inbox } from "./inbox.js";
import { Outbox } from "./outbox.js";
import type { Slot } from "./slot.js";
import type { ToHead, ToHost } from "./wire.js";

type Message = ToHost | ToHead;

/** A batch of so many leaves without waiting for the end of the turn. */
const BATCH_MAX = 512;
/** Batches that the head sends to a host before it has dealt with the first of them; what comes then waits. */
const WINDOW = 2;
/** A host sends what it has to say at least so often. */
const SILENCE_MS_MAX = 1;
/** How long a host deals with messages before its event loop goes round once. */
const TURN_MS_MAX = 5;

export interface LineEnd<In extends Message> {
  readonly roots: () => ReadonlyMap<string, Slot>;
  post(bytes: Uint8Array): void;
  take(message: In): void;
}

/** The head's end of the connection to a host. */
export class HeadLine {
  readonly #outbox = new Outbox<ToHost>();
  readonly #inbox: Inbox<ToHead>;
  #unconfirmed = 0;
  #isDue = false;
  readonly #whenDue = () => {
    this.#isDue = false;
    this.#flush();
  };

  constructor(readonly end: LineEnd<ToHead>) {
    this.#inbox = new Inbox(end.roots, (message) => end.take(message));
  }

  send(message: ToHost): void {
    this.#outbox.add(message);
    if (this.#outbox.count >= BATCH_MAX) return this.#flush();
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#whenDue);
  }

  receive(bytes: Uint8Array): void {
    this.#unconfirmed -= this.#inbox.open(bytes);
    while (this.#inbox.next());
    if (this.#outbox.count >= BATCH_MAX) this.#flush();
    else if (this.#outbox.count > 0) setImmediate(this.#whenDue);
  }

  #flush(): void {
    if (this.#unconfirmed >= WINDOW || this.#outbox.count === 0) return;
    this.#unconfirmed += 1;
    this.end.post(this.#outbox.batch(0));
  }
}

/** The host's end. */
export class HostLine {
  readonly #outbox = new Outbox<ToHead>();
  readonly #inbox: Inbox<ToHost>;
  readonly #waiting: Uint8Array[] = [];
  #isOpen = false;
  #confirmed = 0;
  #isDue = false;
  readonly #whenDue = () => {
    this.#isDue = false;
    this.#flush();
  };
  readonly #goOn = () => this.#work();

  constructor(readonly end: LineEnd<ToHost>) {
    this.#inbox = new Inbox(end.roots, (message) => end.take(message));
  }

  send(message: ToHead): void {
    this.#outbox.add(message);
    this.#soon();
  }

  receive(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    if (!this.#isOpen) this.#work();
  }

  /** Deals with what has come, in order, and lets the event loop go round now and then. */
  #work(): void {
    const beganMs = performance.now();
    let flushedMs = beganMs;
    for (;;) {
      while (this.#inbox.next()) {
        const nowMs = performance.now();
        if (nowMs - flushedMs < SILENCE_MS_MAX) continue;
        this.#flush();
        flushedMs = nowMs;
        if (nowMs - beganMs < TURN_MS_MAX) continue;
        setImmediate(this.#goOn);
        return;
      }
      if (this.#isOpen) this.#confirmed += 1;
      const bytes = this.#waiting.shift();
      this.#isOpen = bytes !== undefined;
      if (bytes === undefined) break;
      this.#inbox.open(bytes);
    }
    if (this.#outbox.count > 0) this.#flush();
    else this.#soon(); // a mere confirmation goes with what the events that have just run are about to say
  }

  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#whenDue);
  }

  #flush(): void {
    if (this.#outbox.count === 0 && this.#confirmed === 0) return;
    const bytes = this.#outbox.batch(this.#confirmed);
    this.#confirmed = 0;
    this.end.post(bytes);
  }
}
