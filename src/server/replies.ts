import { HeadwaterError } from "../errors.js";
import { failureForm, toForm } from "../protocol/index.js";
import type { Called } from "./call.js";
import type { InFlight } from "./in-flight.js";
import type { Outgoing } from "./outgoing.js";

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

  /** Is a reply to be expected that has no room? Then it need not be written first. */
  holdsBack(called: Called | undefined): boolean {
    const expected = Math.min(called?.expectedBytes ?? 0, this.replyBytes);
    return expected > SMALL_BYTES && this.inFlight.roomForReply(this.outgoing.unread) < expected;
  }

  /** What is in the way of sending the value, if something is. */
  #sendValue(request: number, name: string, called: Called | undefined, value: unknown): unknown {
    if (this.holdsBack(called)) return heldBack(name);
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
  return new HeadwaterError(
    "HW-4032",
    `the reply to ${name}(…) was held back: replies that its caller has not read have used up its share. The event has ended ` +
      "as it would have otherwise. Read them, and ask again under the same id for this one.",
  );
}

function tooLarge(name: string, ok: boolean, bytesMax: number): HeadwaterError {
  const what = ok ? `the result of ${name}(…)` : `the error that ${name}(…) failed with`;
  const outcome = ok ? " The event has been committed." : "";
  return new HeadwaterError("HW-4006", `${what} is larger than ${bytesMax} bytes.${outcome}`);
}
