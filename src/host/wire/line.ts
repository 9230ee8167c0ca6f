import type { Slot } from "../context/index.js";
import { Inbox } from "./inbox.js";
import { Outbox } from "./outbox.js";
import { failedEnd, tooLarge } from "./too-large.js";
import type { ToHead, ToHost } from "./wire.js";

type Message = ToHost | ToHead;

/** A batch of so many messages leaves without waiting for the end of the turn. */
const BATCH_MAX = 512;
/** A batch of so many bytes is full: what comes then is for the next one. */
const BATCH_BYTES = 2 ** 20;
/** Batches that the head sends to a host before it has dealt with the first of them; what comes then waits. */
const WINDOW = 2;
/** A host that has sent so many bytes which the head has not read deals with no more messages until it has. */
const UNREAD_BYTES_MAX = 16 * 2 ** 20;
/** How many bytes the head reads before it tells the host. */
const CREDIT_BYTES = UNREAD_BYTES_MAX / 4;
/** A host sends what it has to say at least so often. */
const SILENCE_MS_MAX = 1;
/** How long a host deals with messages before its event loop goes round once. */
const TURN_MS_MAX = 5;

export interface LineEnd<In extends Message> {
  readonly roots: () => ReadonlyMap<string, Slot>;
  /** The most bytes that an event may have in one message. */
  readonly messageBytes: number;
  post(bytes: Uint8Array): void;
  take(message: In): void;
}

/** In place of a batch, the head says how many bytes it has read: it begins like no batch does. */
const CREDIT = 255;
const CREDIT_LENGTH = 9;

function creditOf(bytes: number): Uint8Array {
  const credit = new DataView(new ArrayBuffer(CREDIT_LENGTH));
  credit.setUint8(0, CREDIT);
  credit.setFloat64(1, bytes);
  return new Uint8Array(credit.buffer);
}

function creditIn(bytes: Uint8Array): number | null {
  if (bytes[0] !== CREDIT) return null;
  return new DataView(bytes.buffer, bytes.byteOffset, CREDIT_LENGTH).getFloat64(1);
}

/**
 * The head's end of the connection to a host. Once a full batch waits for its turn, messages wait as they are: they hold
 * nothing that the head has not got anyway, and only so much is in bytes at a time.
 */
export class HeadLine {
  readonly #outbox: Outbox<ToHost>;
  readonly #inbox: Inbox<ToHead>;
  /** In order, from `#first` on: messages, and what makes some. Only if the outbox is full. */
  #waiting: (ToHost | Iterator<ToHost> | null)[] = [];
  #first = 0;
  #unconfirmed = 0;
  #readBytes = 0;
  #isDue = false;
  readonly #whenDue = () => {
    this.#isDue = false;
    this.#flush();
  };

  constructor(readonly end: LineEnd<ToHead>) {
    this.#outbox = new Outbox(end.messageBytes);
    this.#inbox = new Inbox(end.roots, (message) => end.take(message));
  }

  send(message: ToHost): void {
    if (this.#outbox.bytes >= BATCH_BYTES) this.#waiting.push(message);
    else this.#add(message);
    if (this.#outbox.count >= BATCH_MAX || this.#outbox.bytes >= BATCH_BYTES) return this.#flush();
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#whenDue);
  }

  /** Sends messages that are made as there is room for them; what is sent later comes after them. */
  stream(messages: Iterator<ToHost>): void {
    if (this.#outbox.bytes >= BATCH_BYTES || !this.#addAll(messages)) this.#waiting.push(messages);
    if (this.#outbox.bytes >= BATCH_BYTES) return this.#flush();
    if (this.#isDue || this.#outbox.count === 0) return;
    this.#isDue = true;
    setImmediate(this.#whenDue);
  }

  /** False if there may be more when the outbox is full. */
  #addAll(messages: Iterator<ToHost>): boolean {
    while (this.#outbox.bytes < BATCH_BYTES) {
      const { value, done } = messages.next();
      if (done) return true;
      this.#add(value);
    }
    return false;
  }

  /** An event that does not fit fails, as if its host had said so: no host has heard of it. */
  #add(message: ToHost): void {
    if (this.#outbox.add(message) || message.kind !== "run") return;
    const { slot, method, ticket, attempt } = message;
    const ended = failedEnd(tooLarge("the arguments", slot, method, this.end.messageBytes));
    const finish = { kind: "finish", node: slot.node, ticket, attempt, isOver: true, ...ended } as const;
    setImmediate(() => this.end.take(finish));
  }

  receive(bytes: Uint8Array): void {
    this.#readBytes += bytes.length;
    this.#unconfirmed -= this.#inbox.open(bytes);
    while (this.#inbox.next());
    if (this.#readBytes >= CREDIT_BYTES) {
      this.end.post(creditOf(this.#readBytes));
      this.#readBytes = 0;
    }
    if (this.#outbox.count >= BATCH_MAX || this.#outbox.bytes >= BATCH_BYTES) this.#flush();
    else if (this.#outbox.count > 0) setImmediate(this.#whenDue);
  }

  #flush(): void {
    while (this.#unconfirmed < WINDOW && this.#outbox.count > 0) {
      this.#unconfirmed += 1;
      this.end.post(this.#outbox.batch(0));
      this.#fill();
    }
  }

  /** Waiting messages go on. */
  #fill(): void {
    while (this.#first < this.#waiting.length && this.#outbox.bytes < BATCH_BYTES) {
      const next = this.#waiting[this.#first] as ToHost | Iterator<ToHost>;
      if ("kind" in next) this.#add(next);
      else if (!this.#addAll(next)) break;
      this.#waiting[this.#first] = null; // what has gone is not held on to
      this.#first += 1;
    }
    if (2 * this.#first < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }
}

/** The host's end. */
export class HostLine {
  readonly #outbox: Outbox<ToHead>;
  readonly #inbox: Inbox<ToHost>;
  readonly #waiting: Uint8Array[] = [];
  #isOpen = false;
  #confirmed = 0;
  /** Bytes that were sent, and that the head has not said to have read. */
  #unreadBytes = 0;
  /** Does it wait for the head to read? */
  #isHeldUp = false;
  #isDue = false;
  readonly #whenDue = () => {
    this.#isDue = false;
    this.#flush();
  };
  readonly #goOn = () => this.#work();

  constructor(readonly end: LineEnd<ToHost>) {
    this.#outbox = new Outbox(end.messageBytes);
    this.#inbox = new Inbox(end.roots, (message) => end.take(message));
  }

  /** False if it is too large for one message: then nothing of it is sent. */
  send(message: ToHead): boolean {
    if (!this.#outbox.add(message)) return false;
    if (this.#outbox.bytes >= BATCH_BYTES) this.#flush();
    else this.#soon();
    return true;
  }

  receive(bytes: Uint8Array): void {
    const credit = creditIn(bytes);
    if (credit !== null) return this.#wasRead(credit);
    this.#waiting.push(bytes);
    if (!this.#isOpen) this.#work();
  }

  #wasRead(bytes: number): void {
    this.#unreadBytes -= bytes;
    if (!this.#isHeldUp || this.#unreadBytes >= UNREAD_BYTES_MAX) return;
    this.#isHeldUp = false;
    this.#work();
  }

  /** Deals with what has come, in order, and lets the event loop go round now and then. */
  #work(): void {
    const beganMs = performance.now();
    let flushedMs = beganMs;
    for (;;) {
      while (this.#inbox.next()) {
        if (this.#unreadBytes >= UNREAD_BYTES_MAX) {
          this.#isHeldUp = true;
          return;
        }
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
    this.#unreadBytes += bytes.length;
    this.end.post(bytes);
  }
}
