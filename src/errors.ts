/**
 * Every error that Headwater itself raises has a code. The code names a page in `docs/errors`, which
 * `headwater explain CODE` prints; a test keeps this table and those pages in step.
 */

export const codes = {
  "HW-1001": "a context was called from below",
  "HW-1002": "a context was called from the side",
  "HW-1003": "a context was entered again after it was given up",
  "HW-1004": "a context was downgraded while one above it is still held",
  "HW-1005": "a call was not awaited",
  "HW-1006": "a value cannot be stored",
  "HW-1007": "there is no such method",
  "HW-1008": "a context was used outside an event",
  "HW-1009": "a context was changed after it was given up",
  "HW-1010": "a read-only method changed its context",
  "HW-1011": "a read-only event called a method that may write",
  "HW-1012": "an ancestor was read without being declared",
  "HW-1013": "an anonymous context has state",
  "HW-1014": "there is no such context above",
  "HW-1015": "a key cannot name a context",
  "HW-1016": "a context was made by hand",
  "HW-1017": "a context class is not well formed",
  "HW-1018": "a later event was aimed at the wrong logical node",
  "HW-1019": "a read-only event has nothing to downgrade",
  "HW-1020": "there is no such logical node",
  "HW-1021": "a timer cannot be set",
  "HW-1301": "the logical node is full",
  "HW-1302": "an event asked for too much",
  "HW-1401": "the service has stopped",
  "HW-2001": "the command line was not understood",
  "HW-2002": "the program could not be loaded",
  "HW-2003": "the simulator found a difference",
  "HW-9001": "an invariant of Headwater is broken",
} as const;

export type Code = keyof typeof codes;

/** What happened, where, and what to do; `code` leads to the page that explains it. */
export class HeadwaterError extends Error {
  override readonly name = "HeadwaterError";

  constructor(
    readonly code: Code,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
  }
}

/** Stays on in production: a broken invariant must stop the event, not corrupt the state. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition)
    throw new HeadwaterError("HW-9001", `${what}. Please report this; it is a defect of Headwater.`);
}
