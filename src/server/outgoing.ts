import type { WebSocket } from "ws";
import { joined } from "../client/frames.js";
import { HeadwaterError } from "../errors.js";

/** What may wait in a socket before its client counts as one that does not read. */
const UNREAD_BYTES = 1024 * 1024;
const FRAME_BYTES = 256 * 1024;

interface Heard {
  /** The client has begun or ceased to be one that does not read. */
  paced(): void;
  /** It has not read anything for too long. */
  stalled(error: HeadwaterError): void;
}

/** What goes out over one socket: all that is sent in one turn in one frame, as fast as the client reads. */
export class Outgoing {
  #messages: Uint8Array[] = [];
  #bytes = 0;
  #stall: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly ws: WebSocket,
    readonly stallMs: number,
    readonly heard: Heard,
  ) {}

  get isStalled(): boolean {
    return this.#stall !== undefined;
  }

  send(message: Uint8Array): void {
    if (this.#messages.length === 0) process.nextTick(() => this.flush());
    this.#messages.push(message);
    this.#bytes += message.length;
    if (this.#bytes >= FRAME_BYTES) this.flush();
  }

  flush(): void {
    if (this.#messages.length === 0 || this.ws.readyState !== this.ws.OPEN) return;
    this.ws.send(joined(this.#messages, this.#bytes), () => this.#drained());
    this.#messages = [];
    this.#bytes = 0;
    if (this.ws.bufferedAmount <= UNREAD_BYTES || this.isStalled) return;
    this.#awaitReading();
    this.heard.paced();
  }

  /** The socket is closed, or is given up. */
  stop(): void {
    clearTimeout(this.#stall);
  }

  /** Gives the client some time to read at least a part of what it was sent. */
  #awaitReading(): void {
    const before = this.ws.bufferedAmount;
    this.#stall = setTimeout(() => {
      if (this.ws.bufferedAmount < before) return this.#awaitReading();
      const why = `the client has not read what it was sent for ${this.stallMs} ms.`;
      this.heard.stalled(new HeadwaterError("HW-4015", why));
    }, this.stallMs);
  }

  #drained(): void {
    if (!this.isStalled || this.ws.bufferedAmount > UNREAD_BYTES) return;
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.heard.paced();
  }
}
