import type { HeadwaterError } from "../errors.js";
import type { State } from "../state/fields.js";
import type { Effect } from "./effects.js";
import type { Entry } from "./entry.js";
import type { Frame } from "./frame.js";

/** Calls between hosts: what the two ends know of each other. */

export interface Undo {
  readonly entry: Entry;
  readonly state: State;
}

/** The other end of a call that came from another host. */
export interface Guest {
  /** Where the call stands among those above it. */
  readonly positions: readonly number[];
  /** It has ended; should its caller fail, `done` is what is to be taken back. */
  leave(frame: Frame, ok: boolean, value: unknown, doom: HeadwaterError | null, done: Done): void;
}

/** What a call has changed here, oldest first, and which of its calls have changed something on other hosts. */
export interface Done {
  readonly undo: readonly Undo[];
  readonly elsewhere: readonly number[];
}

/** What another host says of a call. */
export interface Returned {
  readonly call: number;
  readonly ok: boolean;
  readonly value: unknown;
  readonly doom: HeadwaterError | null;
  readonly effects: readonly Effect[];
}
