import type { HeadwaterError } from "../../errors.js";
import type { Method } from "../../model/shape.js";
import { Watched } from "../../model/watched.js";
import type { State } from "../../state/fields.js";
import type { Slot } from "../context/index.js";

/** What a call below returns. */
export class Call extends Watched {
  doom: HeadwaterError | null = null;
  /** What came of it, until its caller gets to know. */
  hasResult = false;
  /** Was it made after the method had returned or thrown? */
  isLate = false;
  ok = false;
  value: unknown = undefined;
  /** Did the event hold the caller's context when the call was made? */
  callerHeld = false;
  /** The state of the caller's context at that moment, or why it has none; null if nobody is known to look at it. */
  callerState: State | HeadwaterError | null = null;

  constructor(
    readonly slot: Slot,
    readonly method: Method,
    /** Where it stands among all that the method asks for. */
    readonly position: number,
  ) {
    super();
  }
}

// A class has a constructor of its own, which would hide the one by which a promise sees that it is awaited.
Reflect.deleteProperty(Call.prototype, "constructor");
