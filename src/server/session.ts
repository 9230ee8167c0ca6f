import { HeadwaterError } from "../errors.js";
import type { Position } from "../model/door.js";
import type { Share } from "../model/share.js";
import { pack, Queue, toForm } from "../protocol/index.js";
import type { ServerLimits } from "./limits.js";

/** The side of a connection that a session speaks to. */
export interface SessionListener {
  send(message: Uint8Array): void;
  end(error: HeadwaterError): void;
}

interface Told {
  readonly sequence: number;
  readonly from: Position;
  readonly bytes: Uint8Array;
}

/** What may be on its way to a client before it has acknowledged any of it. */
const WINDOW_COUNT = 1024;
const WINDOW_BYTES = 256 * 1024;

/**
 * A client as the program knows it, whether it is connected at the moment or not. What the program sends to it is
 * numbered and kept until the client says that it has it, so a client that comes back gets what it has missed.
 */
export class Session {
  readonly #limits: ServerLimits;
  readonly #unacknowledged = new Queue<Told>();
  /** Those of them that the present connection has not been given. */
  #unsent = new Queue<Told>();
  #listener: SessionListener | null = null;
  #last = 0;
  #sent = 0;
  #acknowledged = 0;
  #sentBytes = 0;
  /** No request below this number will be sent again. */
  doneBelow = 1;
  /** Since when its client is away, in the order of going. */
  lostAt = 0;

  constructor(
    readonly id: string,
    /** The name of the caller's token. */
    readonly owner: string | null,
    /** Whose share its messages are taken from. */
    readonly caller: string,
    readonly share: Share,
    limits: ServerLimits,
    /** The client has everything that this logical node has sent it up to there. */
    readonly received: (upTo: Position) => void,
  ) {
    this.#limits = limits;
  }

  get isConnected(): boolean {
    return this.#listener !== null;
  }

  /** Is this the connection that the session speaks to? */
  listensWith(listener: SessionListener): boolean {
    return this.#listener === listener;
  }

  /** Takes a message of the program, if `makeRoom` finds room for so many bytes. Says why the session cannot go on, if so. */
  tell(message: unknown, from: Position, makeRoom: (bytes: number) => boolean): HeadwaterError | null {
    const { node, ticket, index } = from;
    const sequence = ++this.#last;
    let bytes: Uint8Array;
    try {
      bytes = pack([0, "message", sequence, node, ticket, index, toForm(message, false)]);
    } catch (error) {
      return ended(
        `message ${sequence} could not be sent: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    const { messages, messageBytes } = this.#limits;
    if (this.#unacknowledged.length >= messages || this.share.held + bytes.length > messageBytes) {
      return ended("more messages wait for its client than are kept");
    }
    if (!makeRoom(bytes.length)) return ended("the messages to its caller took up their share");
    this.share.take(bytes.length);
    const told = { sequence, from, bytes };
    this.#unacknowledged.push(told);
    this.#unsent.push(told);
    this.#sendMore();
    return null;
  }

  /** The client has everything up to this message. */
  acknowledge(sequence: unknown): void {
    this.#drop(known(sequence, this.#sent));
    this.#sendMore();
  }

  /** A connection begins to speak for the client, which has got everything up to `seen`. */
  attach(listener: SessionListener, seen: unknown): void {
    this.#drop(known(seen, this.#last));
    this.#listener?.end(new HeadwaterError("HW-4021", "another connection has taken the session over."));
    this.#sent = this.#acknowledged;
    this.#sentBytes = 0;
    this.#unsent = new Queue();
    for (const told of this.#unacknowledged) this.#unsent.push(told);
    this.#listener = listener;
    this.#sendMore();
  }

  #drop(sequence: number): void {
    let last: Position | null = null;
    for (let told = this.#unacknowledged.front; told !== undefined; told = this.#unacknowledged.front) {
      if (told.sequence > sequence) break;
      this.#unacknowledged.shift();
      this.share.give(told.bytes.length);
      this.#sentBytes -= told.bytes.length;
      this.#acknowledged = told.sequence;
      if (last !== null && last.node !== told.from.node) this.received(last);
      last = told.from;
    }
    if (last !== null) this.received(last);
  }

  /** False if another connection speaks for the client by now. */
  detach(listener: SessionListener): boolean {
    if (this.#listener !== listener) return false;
    this.#listener = null;
    return true;
  }

  /** Nothing is kept for the client any longer. */
  clear(): void {
    this.#unacknowledged.clear();
    this.#unsent.clear();
    this.share.give(this.share.held);
    this.share.leave();
  }

  end(error: HeadwaterError): void {
    const listener = this.#listener;
    this.#listener = null;
    listener?.end(error);
  }

  #sendMore(): void {
    while (
      this.#listener !== null &&
      this.#sent - this.#acknowledged < WINDOW_COUNT &&
      this.#sentBytes < WINDOW_BYTES
    ) {
      const told = this.#unsent.shift();
      if (told === undefined) return;
      this.#sent = told.sequence;
      this.#sentBytes += told.bytes.length;
      this.#listener.send(told.bytes);
    }
  }
}

function known(sequence: unknown, last: number): number {
  if (typeof sequence === "number" && sequence <= last) return sequence;
  throw new HeadwaterError("HW-4014", "a message was acknowledged that was never sent.");
}

export function ended(why: string): HeadwaterError {
  return new HeadwaterError("HW-4016", `the session was ended: ${why}. Messages may have been lost.`);
}
