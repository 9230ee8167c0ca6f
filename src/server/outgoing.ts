import type { WebSocket } from "ws";
import { HeadwaterError } from "../errors.js";
import type { Share } from "../model/share.js";
import { Packer } from "../protocol/index.js";

/** What may wait in a socket before nothing more is read from its client. */
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
  readonly #frame = new Packer();
  #isFlushing = false;
  #stall: ReturnType<typeof setTimeout> | undefined;
  /** What the client has not read is taken from this share. */
  #share: Share | null = null;
  #unread = 0;

  constructor(
    readonly ws: WebSocket,
    readonly stallMs: number,
    readonly heard: Heard,
  ) {}

  /** From now on it is known who the client is. */
  charge(share: Share): void {
    this.#share = share;
  }

  /** Bytes that the client has not read. */
  get unread(): number {
    return this.#unread + this.#frame.length;
  }

  get isStalled(): boolean {
    return this.#stall !== undefined;
  }

  send(message: Uint8Array): void {
    this.#frame.raw(message);
    this.#written();
  }

  /** Writes the answer to a request, to be sent or taken back next. Returns its size. */
  write(request: number, ok: boolean, form: unknown): number {
    const frame = this.#frame;
    const before = frame.length;
    try {
      frame.list(3);
      frame.number(request);
      frame.value(ok);
      frame.value(form);
    } catch (error) {
      frame.truncate(before); // there is no room for so much
      throw error;
    }
    return frame.length - before;
  }

  /** What was written is to be sent. */
  sendWritten(): void {
    this.#written();
  }

  takeBack(bytes: number): void {
    this.#frame.truncate(this.#frame.length - bytes);
  }

  flush(): void {
    if (this.#frame.length === 0) return;
    const frame = this.#frame.take();
    if (this.ws.readyState !== this.ws.OPEN) return;
    const { length } = frame;
    this.#unread += length;
    this.#share?.take(length);
    this.ws.send(frame, () => this.#sent(length));
    if (this.ws.bufferedAmount <= UNREAD_BYTES || this.isStalled) return;
    this.#awaitReading();
    this.heard.paced();
  }

  /** The socket is closed, or is given up. */
  stop(): void {
    clearTimeout(this.#stall);
    this.#share?.give(this.#unread);
    this.#share?.leave();
    this.#share = null;
    this.#unread = 0;
  }

  #written(): void {
    if (this.#frame.length >= FRAME_BYTES) return this.flush();
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    process.nextTick(this.#flushNow);
  }

  readonly #flushNow = (): void => {
    this.#isFlushing = false;
    this.flush();
  };

  #sent(bytes: number): void {
    if (this.#share === null) return; // the frame went before it was known who the client is, or the socket is closed
    this.#unread -= bytes;
    this.#share.give(bytes);
    if (!this.isStalled || this.ws.bufferedAmount > UNREAD_BYTES) return;
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.heard.paced();
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
}
