import type { HeadwaterError } from "../../errors.js";
import type { State } from "../../state/fields.js";
import type { Slot } from "../context/index.js";
import type { Effect } from "./effects.js";
import type { EnteredContext } from "./entered-context.js";
import type { Frame } from "./frame.js";

/** Calls between hosts: what the two ends know of each other. */

/**
 * What a context was before a call. The calls of one method may change a context both directly and through the head; the two
 * kinds are undone one after the other, not in the order of the calls, so the version says which state is older.
 */
export interface UndoRecord {
  readonly entry: EnteredContext;
  readonly state: State;
  readonly version: number;
  /** The next of the same method's. */
  later: UndoRecord | null;
}

/** What held of a context of a caller when it made a call. */
export interface Above {
  readonly isHeld: boolean;
  /** Its state, or why it had none that could be stored; null if it was not kept. */
  readonly state: State | HeadwaterError | null;
}

/** The other end of a call that came from another host. */
export interface Guest {
  /** Where the call stands among those above it. */
  readonly positions: readonly number[];
  /** The head's number for it. */
  readonly call: number;
  /** What held of a context of its callers, if it is one. */
  above(slot: Slot): Above | undefined;
  /** It has ended; should its caller fail, `done` is what is to be taken back. */
  leave(frame: Frame, ok: boolean, value: unknown, doom: HeadwaterError | null, done: Done): void;
}

/** What a call has changed here, oldest first, and which of its calls have changed something on other hosts. */
export interface Done {
  readonly undo: readonly UndoRecord[];
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
