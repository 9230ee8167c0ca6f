import { HeadwaterError } from "../../errors.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import { type WireOutcome, wired } from "./wire.js";

/** An event or a call does not fit into one message between hosts: the event fails, and nothing else does. */
export function tooLarge(
  what: "the arguments" | "the outcome",
  slot: Slot,
  method: Method,
  bytesMax: number,
): HeadwaterError {
  return new HeadwaterError(
    "HW-6024",
    `${what} of ${slot}.${method.name}(…) cannot go from host to host: there are more than ${bytesMax} bytes ` +
      "(`limits.messageBytes`), so the event fails. Pass less at a time, and keep what is large in tracked collections.",
  );
}

/** What is said of it instead. */
export function failedEnd(error: HeadwaterError): WireOutcome {
  return { ok: false, value: wired(error), effects: [], writes: [], existing: [] };
}
