import { HeadwaterError } from "../errors.js";
import { failureForm, toForm } from "../protocol/index.js";
import type { Called } from "./expected-reply.js";
import type { InFlight } from "./in-flight.js";
import type { Outgoing } from "./outgoing.js";
import { leastBytes } from "./reply-size.js";

const UNDEFINED = { $undefined: true };
/** Smaller replies are sent in any case: there are only so many requests under way. */
const SMALL_BYTES = 4096;

/**
 * The replies to the requests of one connection. One that has no room, because its client has not read others, is held back:
 * the client asks again when it has, and gets the answer that was kept.
 */
export class Replies {
  constructor(
    readonly outgoing: Outgoing,
    readonly inFlight: InFlight,
    readonly replyBytes: number,
  ) {}

  send(request: number, name: string, called: Called | undefined, ok: boolean, value: unknown): void {
    const error = ok ? this.#sendValue(request, name, called, value) : value;
    if (error !== null) this.#sendError(request, name, called, error);
  }

  /** Has a value no room as a reply? Then it is not written: that would take time, and memory, for nothing. */
  holdsBack(value: unknown): boolean {
    const room = Math.max(this.inFlight.roomForReply(this.outgoing.unread), SMALL_BYTES);
    return leastBytes(value, room) > room;
  }

  /** What is in the way of sending the value, if something is. */
  #sendValue(request: number, name: string, called: Called | undefined, value: unknown): unknown {
    if (this.holdsBack(value)) {
      const bytes = leastBytes(value, this.replyBytes);
      called?.replied(bytes);
      return bytes > this.replyBytes ? tooLarge(name, true, this.replyBytes) : heldBack(name);
    }
    try {
      const form = value === undefined ? UNDEFINED : toForm(value, false);
      return this.#sendForm(request, name, called, true, form);
    } catch (error) {
      return error;
    }
  }

  #sendError(request: number, name: string, called: Called | undefined, error: unknown): void {
    const instead = this.#sendForm(request, name, called, false, failureForm(error));
    if (instead === null) return;
    this.outgoing.write(request, false, failureForm(instead));
    this.outgoing.sendWritten();
  }

  #sendForm(
    request: number,
    name: string,
    called: Called | undefined,
    ok: boolean,
    form: unknown,
  ): HeadwaterError | null {
    const { unread } = this.outgoing;
    const bytes = this.outgoing.write(request, ok, form);
    called?.replied(bytes);
    if (bytes <= Math.min(SMALL_BYTES, this.replyBytes) || bytes <= this.inFlight.roomForReply(unread)) {
      this.outgoing.sendWritten();
      return null;
    }
    this.outgoing.takeBack(bytes);
    return bytes > this.replyBytes ? tooLarge(name, ok, this.replyBytes) : heldBack(name);
  }
}

/** Said instead of a reply for which there is no room. */
export function heldBack(name: string): HeadwaterError {
  return HeadwaterError.withoutStack(
    "HW-4032",
    `the reply to ${name}(…) was held back: replies that its caller has not read have used up its share. The event has ended ` +
      "as it would have otherwise. Read them, and ask again under the same id for this one.",
  );
}

export function tooLarge(name: string, ok: boolean, bytesMax: number): HeadwaterError {
  const what = ok ? `the result of ${name}(…)` : `the error that ${name}(…) failed with`;
  const outcome = ok ? " The event has been committed." : "";
  return new HeadwaterError("HW-4006", `${what} is larger than ${bytesMax} bytes.${outcome}`);
}
