import { HeadwaterError } from "../../errors.js";

/** What the caller of an event hears that has waited for longer than it may. */
export function tookTooLong(event: string, ms: number): HeadwaterError {
  const why = "Look for what it waits for, or raise `eventTimeoutMs`.";
  return new HeadwaterError("HW-6007", `${event} was given up after ${ms} ms. ${why}`);
}
